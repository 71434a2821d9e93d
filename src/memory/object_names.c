/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/object_names.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/php_heap.h"
#include "memory/php_names.h"
#include "memory/python_heap.h"
#include "memory/python_names.h"
#include "memory/ruby_heap.h"
#include "memory/ruby_names.h"
#include "memory/with_constants.h"

struct object_names {
	const struct leaks *leaks;
	struct with_constants memory;
	struct python_names *python; /* these three, or NULL */
	struct ruby_names *ruby;
	struct php_names *php;
};

struct object_names *object_names_new(const struct leaks *leaks,
				      struct memory *constants)
{
	struct object_names *names = xcalloc(1, sizeof(*names));
	struct memory *memory = &names->memory.memory;

	names->leaks = leaks;
	with_constants_init(&names->memory, &leaks->picture, &leaks->mappings,
			    constants);
	if (python_is_there(&leaks->mappings))
		names->python = python_names_new(memory, &leaks->mappings,
						 PYTHON_LOOKS);
	if (ruby_is_there(&leaks->mappings))
		names->ruby = ruby_names_new(memory, &leaks->glibc.blocks);
	if (php_is_there(&leaks->mappings))
		names->php = php_names_new(memory);
	return names;
}

void object_names_free(struct object_names *names)
{
	if (!names)
		return;
	python_names_free(names->python);
	ruby_names_free(names->ruby);
	php_names_free(names->php);
	free(names);
}

static const char *part_name(enum block_part part)
{
	static const char *const of[BLOCK_PARTS] = {
		[BLOCK_KEYS] = "keys of dict",
		[BLOCK_ITEMS] = "items of list",
		[BLOCK_VALUES] = "attributes",
		[BLOCK_ARRAY] = "items of Array",
		[BLOCK_TABLE] = "table of Hash",
		[BLOCK_ENTRIES] = "entries of Hash",
		[BLOCK_VARIABLES] = "variables",
		[BLOCK_ELEMENTS] = "elements of array",
	};

	return of[part];
}

const char *object_names_class(struct object_names *names,
			       const struct block *block)
{
	const char *class = NULL;

	if (block->part)
		return part_name(block->part);
	if (!block->object)
		return NULL;
	if (names->python)
		class = python_names_class(names->python, block);
	if (!class && names->ruby)
		class = ruby_names_class(names->ruby, block);
	if (!class && names->php)
		class = php_names_class(names->php, block);
	return class;
}

/* Who has what a block has been found by: a pointer to it lies there. */
static const struct block *holder_of(const struct object_names *names,
				     const struct block *block,
				     taddr_t *way_ret)
{
	const struct blocks *blocks = &names->leaks->glibc.blocks;
	const struct block *holder;

	*way_ret = names->leaks->reach.ways[block - blocks->list];
	holder = blocks_around(blocks, *way_ret);
	return holder && holder->object ? holder : NULL;
}

/* Who has found these by a pointer to the first of them knows how they are called. */
static const char *attribute_name(struct object_names *names,
				  const struct block *values, taddr_t where)
{
	taddr_t way, first;
	const struct block *holder = holder_of(names, values, &way);

	if (!names->python || !holder ||
	    memory_read(&names->memory.memory, way, &first, sizeof(first)) ||
	    where < first)
		return NULL;
	return python_names_attribute(names->python, holder,
				      (where - first) / sizeof(first));
}

static const char *variable_name(struct object_names *names,
				 const struct block *variables, taddr_t where)
{
	taddr_t way;
	const struct block *holder = holder_of(names, variables, &way);

	return names->ruby && holder ?
		       ruby_names_apart(names->ruby, holder->address,
					(where - variables->address) /
						sizeof(taddr_t)) :
		       NULL;
}

static const char *own_name(struct object_names *names,
			    const struct block *object, taddr_t where)
{
	const char *name = NULL;

	if (names->python)
		name = python_names_member(names->python, object, where);
	if (!name && names->ruby)
		name = ruby_names_variable(names->ruby, object, where);
	if (!name && names->php)
		name = php_names_property(names->php, object, where);
	return name;
}

const char *object_names_member(struct object_names *names,
				const struct block *from, taddr_t where)
{
	switch (from->part) {
	case BLOCK_KEYS:
		return names->python ? python_names_key(names->python, where) :
				       NULL;
	case BLOCK_VALUES:
		return attribute_name(names, from, where);
	case BLOCK_ENTRIES:
		return names->ruby ? ruby_names_key(names->ruby, where) : NULL;
	case BLOCK_VARIABLES:
		return variable_name(names, from, where);
	case BLOCK_ELEMENTS:
		return names->php ? php_names_key(names->php, where) : NULL;
	case BLOCK_WHOLE:
		if (from->object)
			return own_name(names, from, where);
		return names->ruby ?
			       ruby_names_global(names->ruby, from, where) :
			       NULL;
	default:
		return NULL;
	}
}
