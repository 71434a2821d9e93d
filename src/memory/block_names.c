/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/block_names.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/block_types.h"
#include "memory/head.h"
#include "memory/object_names.h"
#include "memory/root_names.h"
#include "sysdeps/linux/procmem.h"

struct live_names {
	struct block_names names; /* first */
	struct heads *heads;
	struct root_names *roots;
	struct object_names *objects; /* or NULL */
	struct block_types *types;    /* once somebody has asked */
	const struct leaks *leaks;
	struct procmem constants;
};

static const char *live_class(struct block_names *names,
			      const struct block *block)
{
	struct live_names *live = (struct live_names *)names;

	const char *class = heads_class(live->heads, block->address);

	return class || !live->objects ?
		       class :
		       object_names_class(live->objects, block);
}

static char *live_text(struct block_names *names, const struct block *block)
{
	struct live_names *live = (struct live_names *)names;

	return heads_text(live->heads, block->address, block_usable(block));
}

static const char *live_place(struct block_names *names, taddr_t where)
{
	struct live_names *live = (struct live_names *)names;

	return root_names_place(live->roots, where);
}

static const char *live_variable(struct block_names *names, taddr_t where)
{
	struct live_names *live = (struct live_names *)names;

	return root_names_variable(live->roots, where);
}

static bool live_is_of_thread(struct block_names *names, taddr_t where)
{
	struct live_names *live = (struct live_names *)names;

	return root_names_is_of_thread(live->roots, where);
}

/* What holds it is an interpreter's, which has a name for that. */
static const char *member_of(struct live_names *live, const struct block *block)
{
	const struct blocks *blocks = &live->leaks->glibc.blocks;
	const struct block *from;
	taddr_t where;

	if (!live->objects || !block || !live->leaks->reach.ways)
		return NULL;
	where = live->leaks->reach.ways[block - blocks->list];
	from = blocks_around(blocks, where);
	return from ? object_names_member(live->objects, from, where) : NULL;
}

static struct debug_step live_step(struct block_names *names,
				   const struct block *block)
{
	struct live_names *live = (struct live_names *)names;
	const char *member = member_of(live, block);

	if (member)
		return (struct debug_step){ .path = member };
	if (!live->types)
		live->types = block_types_new(live->leaks, live->roots);
	return block_types_step(live->types, block);
}

static bool live_is_curtailed(struct block_names *names)
{
	const struct live_names *live = (const struct live_names *)names;

	return root_names_are_curtailed(live->roots) ||
	       (live->types && block_types_are_curtailed(live->types));
}

static void live_free(struct block_names *names)
{
	struct live_names *live = (struct live_names *)names;

	block_types_free(live->types);
	object_names_free(live->objects);
	heads_free(live->heads);
	root_names_free(live->roots);
	procmem_fini(&live->constants);
	free(live);
}

static const struct block_names_ops live_ops = {
	.class = live_class,
	.text = live_text,
	.place = live_place,
	.variable = live_variable,
	.is_of_thread = live_is_of_thread,
	.step = live_step,
	.is_curtailed = live_is_curtailed,
	.free = live_free,
};

struct block_names *block_names_new(const struct leaks *leaks)
{
	struct live_names *live = xcalloc(1, sizeof(*live));

	live->names.ops = &live_ops;
	live->leaks = leaks;
	procmem_init(&live->constants, leaks->pid);
	live->heads = heads_new(&leaks->mappings, &leaks->picture,
				&live->constants.memory);
	live->roots = root_names_new(leaks);
	if (leaks->links)
		live->objects =
			object_names_new(leaks, &live->constants.memory);
	return &live->names;
}
