/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECTS_TEXT_H
#define CALLTRAP_OBJECTS_TEXT_H

#include <jansson.h>

#include "base/strbuf.h"
#include "memory/object_heap.h"

/* What interpreters' objects take, by type. top: so many of these; 0: all. */
void objects_text(const struct object_heap heaps[OBJECT_LANGUAGES],
		  unsigned top, struct strbuf *out);

/* A member of the object for each interpreter that is there. */
void objects_json(const struct object_heap heaps[OBJECT_LANGUAGES],
		  json_t *object);

#endif
