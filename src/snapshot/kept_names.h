/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_KEPT_NAMES_H
#define CALLTRAP_KEPT_NAMES_H

#include "memory/block_names.h"

/* What blocks and places were called when a file was written. */
struct kept_place {
	taddr_t where;
	const char *name;
	const char *variable; /* NULL: not kept */
	bool of_thread;
};

/* As struct debug_step: texts' numbers. */
struct kept_step {
	uint32_t path, type;
};

struct kept_names {
	struct block_names names; /* first */
	char **texts;             /* numbered from 1; each stands once */
	size_t count, room;
	const struct blocks *blocks;
	uint32_t *of;            /* of each block: a text's number, or 0 */
	uint8_t *is_text;        /* … which is what it begins with */
	struct kept_step *steps; /* of the blocks up to the last that has
				      something */
	size_t step_count, step_room;
	struct kept_place *places; /* by address */
	size_t place_count, place_room;
	char *unknown; /* made up for a place that has none */
};

struct kept_names *kept_names_new(const struct blocks *blocks);

#endif
