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

struct python_links {
	struct memory *memory;
	struct python_types *types;
	const struct mappings *mappings;
	struct reach_rule rule;
};

/* An object that hasn't got this link in front may have the same words. */
static bool is_object(const struct python_links *lists, taddr_t address,
		      bool *of_lists_ret)
{
	struct python_object head;

	return !memory_read(lists->memory, address, &head, sizeof(head)) &&
	       python_types_has(lists->types, head.type, of_lists_ret);
}

/* Whether a word is the link to an object from the one before it on its list,
   or from the one behind; either may be the list itself. */
static bool is_link(const struct python_links *lists, uint64_t pointer,
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

static bool is_on_list_of(const struct python_links *lists, taddr_t address,
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
static bool is_weak(const struct python_links *lists, taddr_t where)
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
static struct block *items_of(const struct python_links *lists,
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

static struct shortened *shorten_all(const struct python_links *lists,
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
static bool is_free(const struct python_links *lists, const struct block *block)
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

static void list_free(const struct python_links *lists, struct blocks *blocks)
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

/* ---- which ways are worth telling ---- */

/* So many pointers at objects of one type, one after the other. */
#define ROW 4

static taddr_t type_behind(const struct python_links *links, taddr_t where)
{
	struct python_object head;
	uint64_t pointer;
	bool of_lists;

	if (memory_read(links->memory, where, &pointer, sizeof(pointer)) ||
	    memory_read(links->memory, pointer, &head, sizeof(head)) ||
	    !python_types_has(links->types, head.type, &of_lists))
		return 0;
	return head.type;
}

/* Dictionaries and others that were dropped are kept for new ones in arrays of the
   interpreter's, where pointers at those that were taken again stay. */
static bool is_in_row(const struct python_links *links, taddr_t where)
{
	const taddr_t type = type_behind(links, where);
	const taddr_t word = sizeof(uint64_t);
	unsigned before = 0, behind = 0;

	while (type && before < ROW &&
	       type_behind(links, where - (before + 1) * word) == type)
		before++;
	while (type && behind < ROW &&
	       type_behind(links, where + (behind + 1) * word) == type)
		behind++;
	return before + 1 + behind >= ROW;
}

/* Variables of a script are in frames, which aren't on the stack; what is there
   has often been left behind. */
static bool is_doubtful_root(const struct python_links *links, taddr_t where)
{
	const struct mapping *mapping = mappings_find(links->mappings, where);

	if (!mapping || mapping->kind == MAPPING_STACK)
		return true;
	return (mapping->kind == MAPPING_PROGRAM_DATA ||
		mapping->kind == MAPPING_LIBRARY_DATA) &&
	       is_in_row(links, where);
}

static bool is_no_way(void *context, uint64_t pointer, taddr_t where)
{
	return is_no_reference(context, pointer, where) ||
	       is_doubtful_root(context, where);
}

struct python_links *python_links_new(const struct picture *picture,
				      const struct mappings *mappings)
{
	struct python_links *links = xcalloc(1, sizeof(*links));

	/* It only reads. */
	links->memory = (struct memory *)&picture->memory;
	links->mappings = mappings;
	links->types = python_types_new(links->memory, mappings);
	links->rule = (struct reach_rule){
		.passes_over = is_no_way,
		.context = links,
	};
	return links;
}

void python_links_free(struct python_links *links)
{
	if (!links)
		return;
	python_types_free(links->types);
	free(links);
}

const struct reach_rule *python_links_rule(const struct python_links *links)
{
	return links ? &links->rule : NULL;
}

void python_garbage_find(const struct picture *picture,
			 const struct mappings *mappings,
			 const struct freeze *frozen, struct glibc *glibc)
{
	struct python_links *links;
	struct shortened *shortened;
	size_t count;

	if (!python_is_there(mappings))
		return;
	links = python_links_new(picture, mappings);
	/* What can't be told from a reference holds an object here. */
	links->rule.passes_over = is_no_reference;
	shortened = shorten_all(links, &glibc->blocks, &count);
	reach_mark(picture, mappings, frozen, glibc, &links->rule);
	take_marks(&glibc->blocks);
	python_references_check(picture, mappings, links->types, &links->rule,
				glibc);
	list_free(links, &glibc->blocks);
	restore(shortened, count);
	python_links_free(links);
	free(shortened);
}
