/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ACT_STATS_H
#define CALLTRAP_ACT_STATS_H

#include <stdio.h>

#include "heap/act_observer.h"
#include "naming/namer.h"

/* Numbers about the acts of memory's families: sizes, lifetimes, mistakes. */
struct act_stats;

struct act_stats *act_stats_new(const struct stacks *stacks,
				struct namer *namer) MUST_CHECK;
void act_stats_free(struct act_stats *stats);
struct act_observer *act_stats_observer(struct act_stats *stats);

/* Adds all of one process, which has come to its end. */
void act_stats_print(struct act_stats *stats, const struct watched *process,
		     struct strbuf *out);

/* A line for each act, with commas. */
struct act_csv;

/* file: the caller's. start: the time that is 0. */
struct act_csv *act_csv_new(FILE *file, const struct stacks *stacks,
			    uint64_t start) MUST_CHECK;
void act_csv_free(struct act_csv *csv);
struct act_observer *act_csv_observer(struct act_csv *csv);

#endif
