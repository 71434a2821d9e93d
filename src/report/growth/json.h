/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_JSON_H
#define CALLTRAP_GROWTH_JSON_H

#include <jansson.h>

#include "report/memory/export.h"

/* Sets "grown", if that was watched. */
void growth_json_set(json_t *root, const struct heap_export *export);

#endif
