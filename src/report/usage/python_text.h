/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_TEXT_H
#define CALLTRAP_PYTHON_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "memory/python.h"

/* What Python's objects take, by type. top: so many of these; 0: all. */
void python_text(const struct python_heap *heap, unsigned top,
		 struct strbuf *out);
json_t *python_json(const struct python_heap *heap);

#endif
