/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MALLOCNG_PRIVATE_H
#define CALLTRAP_MALLOCNG_PRIVATE_H

#include "memory/mallocng.h"
#include "memory/mallocng_layout.h"
#include "memory/window.h"

struct ng_group {
	taddr_t meta;
	taddr_t address;
	uint64_t size;   /* that its slots take, with its head */
	uint64_t stride; /* from slot to slot */
	uint32_t slots;
	uint32_t free; /* a bit for each slot */
	bool mapped;   /* one block with a mapping of its own */
};

/* Groups of a process; by address when they are all there. */
struct ng_heap {
	struct window *window;
	struct glibc *heap;
	struct ng_group *groups;
	size_t count, room;
};

/* Finds the context in the data of modules: an arena of the heap. */
bool mallocng_find(struct memory *memory, const struct mappings *mappings,
		   struct ng_heap *ng);

/* The blocks in slots of a group. */
void mallocng_read_slots(struct ng_heap *ng, const struct ng_group *group);

/* What doesn't make sense first is told. */
void mallocng_set_trouble(struct ng_heap *ng, taddr_t where, const char *why);

#endif
