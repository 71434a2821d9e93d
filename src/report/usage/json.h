/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_USAGE_JSON_H
#define CALLTRAP_USAGE_JSON_H

#include <jansson.h>

#include "memory/view.h"

/* All that is known of where the memory is; the caller's to give back. */
json_t *memory_json(const struct memory_view *view) MUST_CHECK;

#endif
