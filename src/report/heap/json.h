/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_JSON_H
#define CALLTRAP_HEAP_JSON_H

#include <jansson.h>

#include "report/heap/export.h"

/* What the files that make JSON of a heap share. */

/* Calls, holders, incidents, growth, losses and cost. */
void heap_json_set_more(json_t *root, const struct heap_export *export);

#endif
