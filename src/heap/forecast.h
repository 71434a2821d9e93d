/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FORECAST_H
#define CALLTRAP_FORECAST_H

#include "base/strbuf.h"
#include "heap/heap.h"
#include "heap/survey.h"
#include "heap/trend.h"

/* How bytes grow, where that goes, and from where it comes. */
struct rise {
	struct trend trend; /* of the low water of bytes, a second */
	double steadiness;  /* 1: it has only risen */
	uint64_t watched;   /* nanoseconds */
	bool certain;       /* rises, and how fast is known well enough to
				say where it goes */
};

/* Of any history: a family's, a site's, or that of a process's RSS. since: how
   long it has been kept. */
struct rise rise_of(const struct history *history, uint64_t since);

/* When so many bytes more will be reached. Nanoseconds from now. */
struct forecast {
	bool certain;
	uint64_t left, earliest, latest;
};

struct forecast forecast_of(const struct rise *rise, uint64_t room);

/* "in 3 h 10 min ± 20 min"; nothing when it isn't certain. */
void forecast_print(const struct forecast *forecast, struct strbuf *out);

/* The sites that a family's growth comes from, the most first. */
struct rise_source {
	const struct site *site;
	double share; /* of all growth, 0 to 1 */
};

/*
 * Less the part of sites whose blocks make up for older ones, of which nobody
 * knows how large they were.
 */
void rise_without_replaced(struct rise *rise, const struct heap *heap,
			   const struct family *family,
			   const struct survey *survey);

/* At most room of them, and no more than are needed for 9/10 of it; returns
   how many. */
size_t rise_sources(const struct heap *heap, const struct family *family,
		    const struct survey *survey, struct rise_source *ret,
		    size_t room);

#endif
