/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/python_garbage.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "memory/python_heap.h"
#include "memory/python_references.h"

/* PyGC_Head, Include/internal/pycore_gc.h: what is in front of an object that is
   on a list. The lowest bits of both words say something else. */
struct list_link {
	uint64_t next, previous;
};

#define LINK_BITS 3

struct object_lists {
	struct memory *memory;
	struct python_types *types;
};

/* An object that hasn't got this link in front may have the same words. */
static bool is_object(const struct object_lists *lists, taddr_t address,
		      bool *of_lists_ret)
{
	struct python_object head;

	return !memory_read(lists->memory, address, &head, sizeof(head)) &&
	       python_types_has(lists->types, head.type, of_lists_ret);
}

/* Whether a word is the link to an object from the one before it on its list,
   or from the one behind; either may be the list itself. */
static bool is_link(const struct object_lists *lists, uint64_t pointer,
		    taddr_t where)
{
	const taddr_t at = pointer & ~(uint64_t)LINK_BITS;
	struct list_link link;
	bool of_lists;

	if (!where || memory_read(lists->memory, at, &link, sizeof(link)))
		return false;
	return ((link.previous & ~(uint64_t)LINK_BITS) == where ||
		(link.next & ~(uint64_t)LINK_BITS) ==
			where - sizeof(link.next)) &&
	       is_object(lists, at + sizeof(link), &of_lists);
}

/* ---- weak references ---- */

/* PyWeakReference, Include/cpython/weakrefobject.h: those of an object are on a
   list, which begins in that. */
struct weak_reference {
	struct python_object head;
	taddr_t object, callback;
	uint64_t hash;
	taddr_t previous, next;
};

static bool is_on_list_of(const struct object_lists *lists, taddr_t address,
			  const struct weak_reference *weak)
{
	struct weak_reference previous;
	struct python_object object;
	int64_t offset;
	taddr_t first;

	if (weak->previous)
		return !memory_read(lists->memory, weak->previous, &previous,
				    sizeof(previous)) &&
		       previous.next == address &&
		       previous.object == weak->object;
	if (memory_read(lists->memory, weak->object, &object, sizeof(object)))
		return false;
	offset = python_types_weak_list(lists->types, object.type);
	return offset &&
	       !memory_read(lists->memory, weak->object + offset, &first,
			    sizeof(first)) &&
	       first == address;
}

/* Whether a word is what a weak reference refers to, which doesn't keep it: a set
   of such (asyncio's of all tasks) led to each ring that was in it once. */
static bool is_weak(const struct object_lists *lists, taddr_t where)
{
	const taddr_t address = where - offsetof(struct weak_reference, object);
	struct weak_reference weak;
	bool of_lists;

	return where &&
	       !memory_read(lists->memory, address, &weak, sizeof(weak)) &&
	       python_types_has(lists->types, weak.head.type, &of_lists) &&
	       is_on_list_of(lists, address, &weak);
}

static bool is_no_reference(void *context, uint64_t pointer, taddr_t where)
{
	return is_link(context, pointer, where) || is_weak(context, where);
}

/* ---- what lists keep room for ---- */

/* PyListObject; behind its last item are pointers of who had that memory
   before, which lead to much that is garbage. */
struct list_object {
	struct python_object head;
	uint64_t count;
	taddr_t items;
	uint64_t room;
};

struct shortened {
	struct block *block;
	uint8_t behind;
};

static void shorten(struct block *block, uint64_t bytes)
{
	uint64_t behind = block->behind;

	if (block_usable(block) > bytes)
		behind += block_usable(block) - bytes;
	block->behind = behind < UINT8_MAX ? behind : UINT8_MAX;
}

/* Its items, or NULL: there is no list in it. */
static struct block *items_of(const struct object_lists *lists,
			      const struct blocks *blocks,
			      const struct block *block, uint64_t *bytes_ret)
{
	static const size_t in_front[] = { 16, 32 };

	for (size_t i = 0; i < ARRAY_SIZE(in_front); i++) {
		const taddr_t at = block->address + in_front[i];
		struct list_object list;
		bool of_lists;

		if (in_front[i] + sizeof(list) > block_usable(block) ||
		    !is_object(lists, at, &of_lists) || !of_lists ||
		    memory_read(lists->memory, at, &list, sizeof(list)) ||
		    list.count > list.room || list.room > UINT32_MAX)
			continue;
		*bytes_ret = list.count * sizeof(taddr_t);
		return blocks_at(blocks, list.items);
	}
	return NULL;
}

static struct shortened *shorten_all(const struct object_lists *lists,
				     const struct blocks *blocks,
				     size_t *count_ret)
{
	struct shortened *shortened = NULL;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < blocks->count; i++) {
		struct block *items = NULL;
		uint64_t bytes;

		if (block_is_used(&blocks->list[i]))
			items = items_of(lists, blocks, &blocks->list[i],
					 &bytes);
		if (!items || block_usable(items) <= bytes)
			continue;
		shortened = xgrow(shortened, count, &room, sizeof(*shortened));
		shortened[count++] = (struct shortened){ items, items->behind };
		shorten(items, bytes);
	}
	*count_ret = count;
	return shortened;
}

/* The last one first: two lists of a program that is damaged may share items. */
static void restore(const struct shortened *shortened, size_t count)
{
	while (count--)
		shortened[count].block->behind = shortened[count].behind;
}

/* ---- what is kept for new objects ---- */

/* Tuples, lists and others that were dropped: nobody refers to them, and no
   collector has them on a list. */
static bool is_free(const struct object_lists *lists, const struct block *block)
{
	struct {
		struct list_link link;
		struct python_object object;
	} head;
	bool of_lists;

	return block_is_used(block) && sizeof(head) <= block_usable(block) &&
	       !memory_read(lists->memory, block->address, &head,
			    sizeof(head)) &&
	       !head.link.next &&
	       !(head.link.previous & ~(uint64_t)LINK_BITS) &&
	       !head.object.references &&
	       python_types_has(lists->types, head.object.type, &of_lists);
}

static void list_free(const struct object_lists *lists, struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		if (is_free(lists, &blocks->list[i]))
			blocks->list[i].listed = true;
}

/* ---- */

/* What only these lead to would be lost; the marks are for others to make. */
static void take_marks(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->count; i++) {
		struct block *block = &blocks->list[i];

		block->listed = block_is_used(block) &&
				block->mark == REACH_LOST;
		block->mark = REACH_LOST;
	}
}

void python_garbage_find(const struct picture *picture,
			 const struct mappings *mappings,
			 const struct freeze *frozen, struct glibc *glibc)
{
	/* It only reads. */
	struct object_lists lists = {
		.memory = (struct memory *)&picture->memory
	};
	const struct reach_rule rule = {
		.passes_over = is_no_reference,
		.context = &lists,
	};

	struct shortened *shortened;
	size_t count;

	if (!python_is_there(mappings))
		return;
	lists.types = python_types_new(lists.memory, mappings);
	shortened = shorten_all(&lists, &glibc->blocks, &count);
	reach_mark(picture, mappings, frozen, glibc, &rule);
	take_marks(&glibc->blocks);
	python_references_check(picture, lists.types, &rule, glibc);
	list_free(&lists, &glibc->blocks);
	restore(shortened, count);
	python_types_free(lists.types);
	free(shortened);
}
