/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VIEWER_H
#define CALLTRAP_VIEWER_H

#include <jansson.h>

#include "report/memory/held.h"
#include "report/viewer/frame_table.h"

/* What the files for viewers are made of: sites with their stacks in numbers,
   and what each held at which time. */
struct viewer_site {
	const struct site *site;
	uint32_t *frames; /* the outermost first, the allocator last */
	size_t depth;
};

struct viewer {
	const struct heap_export *export;
	struct frame_table frames;
	struct viewer_site *sites;
	size_t count;
	const struct timeline *timeline; /* up to export->now */
};

void viewer_init(struct viewer *viewer, const struct heap_export *export);
void viewer_fini(struct viewer *viewer);

/*
 * What a site held at the end of so many intervals of the timeline; after all
 * of them: now.
 */
struct heap_export_held viewer_held(const struct viewer *viewer,
				    const struct viewer_site *site,
				    unsigned intervals);

/* The same of all sites. */
struct heap_export_held viewer_held_by_all(const struct viewer *viewer,
					   unsigned intervals);

/* After how many intervals most was held. */
unsigned viewer_peak(const struct viewer *viewer);

/* When the end of so many intervals was; nanoseconds since watching began. */
uint64_t viewer_time(const struct viewer *viewer, unsigned intervals);

/* The program and its number, "redis-server (4711)". */
void viewer_add_title(const struct viewer *viewer, struct strbuf *out);

/* Adds the text of a value, and a newline; frees the value. */
void viewer_put_json(json_t *root, struct strbuf *out);

#endif
