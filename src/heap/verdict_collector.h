/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VERDICT_COLLECTOR_H
#define CALLTRAP_VERDICT_COLLECTOR_H

#include "heap/verdict.h"

/* A verdict of ages and numbers, and that a collector of the program's decides
   when blocks of the site are given back, or their owners. */
void verdict_heed_collector(const struct heap *heap, const struct site *site,
			    const struct survey *survey,
			    struct verdict *verdict);

#endif
