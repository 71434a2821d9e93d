/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "memory/mallocng_private.h"

#define FAR_LEAST (UINT64_C(2) << 20)

/* What stands before a block, or where one may begin. */
struct head {
	uint8_t bytes[8];
};

static bool read_head(struct ng_heap *ng, taddr_t block, struct head *ret)
{
	return !memory_read(&ng->window->memory, block - sizeof(ret->bytes),
			    ret->bytes, sizeof(ret->bytes));
}

static uint8_t byte_of(const struct head *head, size_t back)
{
	return head->bytes[sizeof(head->bytes) - back];
}

static uint64_t offset_of(const struct head *head)
{
	uint16_t near;
	uint32_t far;

	memcpy(&near, head->bytes + sizeof(head->bytes) - SLOT_OFFSET,
	       sizeof(near));
	memcpy(&far, head->bytes, sizeof(far));
	return (byte_of(head, SLOT_IS_FAR) ? far : (uint64_t)near) * BLOCK_UNIT;
}

static bool is_block(const struct ng_group *group, unsigned slot, taddr_t block,
		     const struct head *head)
{
	return (byte_of(head, SLOT_INDEX) & INDEX_MASK) == slot &&
	       offset_of(head) == block - group->address - GROUP_HEAD;
}

/* A thread is about to take it, or to give it back. */
static bool is_between(const struct head *head)
{
	static const uint8_t never[4] = { 0 };

	return byte_of(head, SLOT_INDEX) == INDEX_GIVEN ||
	       !memcmp(head->bytes + 4, never, sizeof(never));
}

/*
 * A new group's first slot looks the same when it is taken, before its head is
 * written: malloc() wakes others meanwhile, so that takes its time.
 */
static bool may_be_coming(struct ng_heap *ng, taddr_t block, uint64_t usable,
			  const struct head *head)
{
	static const uint8_t nothing[64];
	const size_t size = usable < sizeof(nothing) ? usable : sizeof(nothing);
	uint8_t bytes[sizeof(nothing)];

	return !memcmp(head->bytes + 4, nothing, 4) &&
	       !memory_read(&ng->window->memory, block, bytes, size) &&
	       !memcmp(bytes, nothing, size);
}

static void add_coming(struct glibc *heap, taddr_t block)
{
	heap->coming = xgrow(heap->coming, heap->coming_count,
			     &heap->coming_room, sizeof(*heap->coming));
	heap->coming[heap->coming_count++] = block;
}

/*
 * The slot begins with 16 bits of where the block begins. If that is more than
 * 1 MiB further on, it is because that was aligned to more.
 */
static taddr_t find_far(struct ng_heap *ng, const struct ng_group *group,
			taddr_t start, struct head *head)
{
	for (uint64_t align = FAR_LEAST; align < group->stride; align *= 2) {
		taddr_t block = (start + align - 1) & ~(align - 1);

		/* What was aligned began up to 255 units later than the slot. */
		if (block - start < 256 * BLOCK_UNIT)
			block += align;
		if (block - start < group->stride &&
		    read_head(ng, block, head) &&
		    is_block(group, 0, block, head))
			return block;
	}
	return 0;
}

static taddr_t find_block(struct ng_heap *ng, const struct ng_group *group,
			  unsigned slot, taddr_t start, struct head *head)
{
	const struct head first = *head;
	taddr_t block = start;

	if (byte_of(&first, SLOT_INDEX) != INDEX_LATER)
		return start;
	block += offset_of(&first);
	if (block - start < group->stride && read_head(ng, block, head) &&
	    (is_block(group, slot, block, head) ||
	     (!group->mapped && is_between(head))))
		return block;
	return group->slots == 1 ? find_far(ng, group, start, head) : 0;
}

/* How many bytes at the end weren't asked for; UINT64_MAX: nobody knows. */
static uint64_t spare_bytes(struct ng_heap *ng, const struct head *head,
			    taddr_t end)
{
	const unsigned spare = INDEX_SPARE(byte_of(head, SLOT_INDEX));
	uint32_t told;

	if (spare < SPARE_TOLD)
		return spare;
	if (spare > SPARE_TOLD ||
	    memory_read(&ng->window->memory, end - SLOT_TAIL, &told,
			sizeof(told)) ||
	    told < SPARE_TOLD)
		return UINT64_MAX;
	return told;
}

static bool add_block(struct ng_heap *ng, const struct ng_group *group,
		      taddr_t address, uint64_t usable)
{
	const uint64_t units = usable / BLOCK_UNIT + 1;

	if (units > UINT32_MAX)
		return false;
	blocks_add(&ng->heap->blocks,
		   &(struct block){
			   .address = address,
			   .units = (uint32_t)units,
			   .state = BLOCK_USED,
			   .behind = (uint8_t)(units * BLOCK_UNIT - usable),
			   .mapped = group->mapped,
		   });
	return true;
}

static void count_slot(struct ng_heap *ng, const struct ng_group *group,
		       enum block_state state)
{
	struct glibc_arena *arena = &ng->heap->arenas[0];

	if (group->mapped)
		return;
	arena->count[state]++;
	arena->bytes[state] += group->stride;
}

/* False when it makes no sense. */
static bool read_slot(struct ng_heap *ng, const struct ng_group *group,
		      unsigned slot)
{
	const taddr_t start =
		group->address + GROUP_HEAD + slot * group->stride;
	const taddr_t end = start + group->stride - SLOT_TAIL;
	struct head head;
	uint64_t spare;
	taddr_t block;

	if (!read_head(ng, start, &head))
		return false;
	block = find_block(ng, group, slot, start, &head);
	if (!block)
		return false;
	if (!is_block(group, slot, block, &head)) {
		if (!is_between(&head))
			return false;
		count_slot(ng, group, BLOCK_FREE);
		return true;
	}
	if (INDEX_SPARE(byte_of(&head, SLOT_INDEX)) == SPARE_GROUP)
		return true;
	spare = spare_bytes(ng, &head, end);
	if (spare > end - block ||
	    !add_block(ng, group, block, end - block - spare))
		return false;
	if (may_be_coming(ng, block, end - block - spare, &head))
		add_coming(ng->heap, block);
	count_slot(ng, group, BLOCK_USED);
	return true;
}

void mallocng_read_slots(struct ng_heap *ng, const struct ng_group *group)
{
	taddr_t meta;
	const bool bad = memory_read(&ng->window->memory, group->address, &meta,
				     sizeof(meta));

	/* It is just being made: the memory is there, and waits to be written;
	   or it is given up. */
	if (!bad && !meta)
		return;
	if (bad || meta != group->meta) {
		mallocng_set_trouble(ng, group->address,
				     "a group doesn't know itself");
		return;
	}
	for (unsigned i = 0; i < group->slots; i++)
		if (group->free >> i & 1)
			count_slot(ng, group, BLOCK_FREE);
		else if (!read_slot(ng, group, i))
			mallocng_set_trouble(ng, group->address,
					     "a slot makes no sense");
}
