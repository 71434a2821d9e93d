/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VERDICT_REACH_H
#define CALLTRAP_VERDICT_REACH_H

#include "heap/verdict.h"

/* A verdict of ages and numbers, and what is known of reachability: NULL is
   nothing. */
void verdict_heed_reach(struct verdict *verdict,
			const struct site_reach *reach);

#endif
