/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define FIRST_ROOM 16
#define CACHE_LINE 64

void live_fini(struct live *live)
{
	for (size_t i = 0; i < ARRAY_SIZE(live->parts); i++)
		free(live->parts[i].slots);
	*live = (struct live){ 0 };
}

/* Handles are addresses and small numbers: all bits must come to count. */
static uint64_t hash_of(uint64_t handle)
{
	handle ^= handle >> 32;
	handle *= 0x9e3779b97f4a7c15u;
	handle ^= handle >> 29;
	handle *= 0xbf58476d1ce4e5b9u;
	return handle ^ handle >> 32;
}

static struct live_part *part_of(const struct live *live, uint64_t hash)
{
	return (struct live_part *)&live->parts[hash % LIVE_PARTS];
}

/* Where a block would be if it were alone: rises with the upper half. */
static uint32_t home_of(const struct live_part *part, uint64_t hash)
{
	return (hash >> 32) * part->room >> 32;
}

static uint32_t next_of(const struct live_part *part, uint32_t slot)
{
	return slot + 1 == part->room ? 0 : slot + 1;
}

/* How far from home the block in a slot is. */
static uint32_t distance(const struct live_part *part, uint32_t slot)
{
	uint32_t home = home_of(part, hash_of(part->slots[slot].handle));

	return slot >= home ? slot - home : slot + part->room - home;
}

/* Moves [from, to) on by one; the slot at to is free. */
static void move_on(struct live_part *part, uint32_t from, uint32_t to)
{
	struct live_block *slots = part->slots;

	if (from > to) {
		memmove(slots + 1, slots, to * sizeof(*slots));
		to = part->room - 1;
		slots[0] = slots[to];
	}
	memmove(slots + from + 1, slots + from, (to - from) * sizeof(*slots));
}

/* Moves (to, end) back by one, over what was at to. */
static void move_back(struct live_part *part, uint32_t to, uint32_t end)
{
	struct live_block *slots = part->slots;
	const uint32_t last = part->room - 1;

	if (end > to) {
		memmove(slots + to, slots + to + 1,
			(end - to - 1) * sizeof(*slots));
		return;
	}
	memmove(slots + to, slots + to + 1, (last - to) * sizeof(*slots));
	if (!end)
		return;
	slots[last] = slots[0];
	memmove(slots, slots + 1, (end - 1) * sizeof(*slots));
}

/* Before the first one that is not farther from home. */
static void insert(struct live_part *part, const struct live_block *block)
{
	uint32_t slot = home_of(part, hash_of(block->handle));
	uint32_t from_home = 0, end;

	while (part->slots[slot].site && distance(part, slot) > from_home) {
		slot = next_of(part, slot);
		from_home++;
	}
	end = slot;
	while (part->slots[end].site)
		end = next_of(part, end);
	move_on(part, slot, end);
	part->slots[slot] = *block;
	part->used++;
}

static void grow(struct live_part *part)
{
	struct live_part old = *part;

	part->room = old.room ? old.room + old.room / 4 : FIRST_ROOM;
	part->used = 0;
	part->slots = xcalloc(part->room, sizeof(*part->slots));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.slots[i].site)
			insert(part, &old.slots[i]);
	free(old.slots);
}

static void add_old(struct live *live, const struct live_block *block)
{
	struct live_part *part = part_of(live, hash_of(block->handle));

	if ((uint64_t)part->used * 10 + 10 > (uint64_t)part->room * 9)
		grow(part);
	insert(part, block);
}

/* Where the search for it begins, and goes on as a rule. */
static void expect_old(const struct live *live, uint64_t hash)
{
	const struct live_part *part = part_of(live, hash);
	const char *home;

	if (!part->room)
		return;
	home = (const char *)&part->slots[home_of(part, hash)];
	__builtin_prefetch(home, 1);
	__builtin_prefetch(home + CACHE_LINE, 1);
}

/* The only place of the young where it may be. */
static struct live_block *young_at(const struct live *live, uint64_t hash)
{
	const struct live_part *young = &live->parts[LIVE_PARTS];

	return &young->slots[home_of(young, hash)];
}

/* By bits that choose neither its place among the young nor its part. */
static struct live_block *leaving_at(const struct live *live, uint64_t hash)
{
	return &live->parts[LIVE_PARTS + 1]
			.slots[hash / LIVE_PARTS % LIVE_LEAVING];
}

static bool is_at(const struct live_block *place, uint64_t handle)
{
	return place->handle == handle && place->site;
}

/* Among those that aren't in their part yet; or NULL. */
static struct live_block *find_young(const struct live *live, uint64_t handle,
				     uint64_t hash)
{
	struct live_block *place;

	if (!live->parts[LIVE_PARTS].slots)
		return NULL;
	place = young_at(live, hash);
	if (is_at(place, handle))
		return place;
	place = leaving_at(live, hash);
	return is_at(place, handle) ? place : NULL;
}

static void make_room(struct live_part *part, uint32_t room)
{
	part->slots = xcalloc(room, sizeof(*part->slots));
	part->room = room;
}

static void leave(struct live *live, const struct live_block *block)
{
	const uint64_t hash = hash_of(block->handle);
	struct live_block *place = leaving_at(live, hash);

	if (place->site)
		add_old(live, place);
	*place = *block;
	expect_old(live, hash);
}

void live_add(struct live *live, const struct live_block *block)
{
	struct live_block *place;

	if (!live->parts[LIVE_PARTS].slots) {
		make_room(&live->parts[LIVE_PARTS], LIVE_YOUNG);
		make_room(&live->parts[LIVE_PARTS + 1], LIVE_LEAVING);
	}
	place = young_at(live, hash_of(block->handle));
	if (place->site)
		leave(live, place);
	*place = *block;
	live->count++;
}

static bool find_slot(const struct live_part *part, uint64_t handle,
		      uint64_t hash, uint32_t *ret)
{
	uint32_t slot, from_home = 0;

	if (!part->room)
		return false;
	slot = home_of(part, hash);
	while (part->slots[slot].site) {
		if (part->slots[slot].handle == handle) {
			*ret = slot;
			return true;
		}
		if (distance(part, slot) < from_home)
			return false;
		slot = next_of(part, slot);
		from_home++;
	}
	return false;
}

struct live_block *live_find(const struct live *live, uint64_t handle)
{
	uint64_t hash = hash_of(handle);
	const struct live_part *part = part_of(live, hash);
	struct live_block *young = find_young(live, handle, hash);
	uint32_t slot;

	if (young)
		return young;
	return find_slot(part, handle, hash, &slot) ? &part->slots[slot] : NULL;
}

void live_expect(const struct live *live, uint64_t handle)
{
	const uint64_t hash = hash_of(handle);

	if (!find_young(live, handle, hash))
		expect_old(live, hash);
}

static bool remove_old(struct live_part *part, uint64_t handle, uint64_t hash,
		       struct live_block *ret)
{
	uint32_t slot, last, next;

	if (!find_slot(part, handle, hash, &slot))
		return false;
	*ret = part->slots[slot];
	last = slot;
	next = next_of(part, slot);
	while (part->slots[next].site && distance(part, next) > 0) {
		last = next;
		next = next_of(part, next);
	}
	move_back(part, slot, next);
	part->slots[last].site = 0;
	part->used--;
	return true;
}

bool live_remove(struct live *live, uint64_t handle, struct live_block *ret)
{
	uint64_t hash = hash_of(handle);
	struct live_block *young = find_young(live, handle, hash);

	if (young) {
		*ret = *young;
		young->site = 0;
	} else if (!remove_old(part_of(live, hash), handle, hash, ret)) {
		return false;
	}
	live->count--;
	return true;
}

size_t live_bytes(const struct live *live)
{
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(live->parts); i++)
		bytes += live->parts[i].room * sizeof(struct live_block);
	return bytes;
}
