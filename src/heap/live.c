/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void live_fini(struct live *live)
{
	for (size_t i = 0; i < ARRAY_SIZE(live->parts); i++) {
		free(live->parts[i].slots);
		free(live->parts[i].groups);
	}
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

/* So many in proportion to the hash's upper half. */
static uint32_t share_of(uint64_t hash, uint32_t count)
{
	return (hash >> 32) * count >> 32;
}

/* By bits that choose none of its places; never 0. */
static uint8_t tag_of(uint64_t hash)
{
	const uint8_t tag = hash >> 16;

	return tag ? tag : 1;
}

/* ---- groups ---- */

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The highest bit of each byte that is 0. */
static uint64_t zero_bytes(uint64_t word)
{
	const uint64_t low = 0x7f * EACH_BYTE;

	return ~(((word & low) + low) | word | low);
}

/* Slots of a group whose tag it is: one bit of eight each, as they are gone through. */
struct matches {
	uint64_t bits[2];
};

static struct matches match(const struct live_group *group, uint8_t tag)
{
	const uint64_t wanted = tag * EACH_BYTE;
	struct matches ret;
	uint64_t words[2];

	_Static_assert(sizeof(words) == sizeof(*group), "all of it");
	memcpy(words, group, sizeof(words));
	ret.bits[0] = zero_bytes(words[0] ^ wanted);
	/* The last byte is no tag. */
	ret.bits[1] = zero_bytes(words[1] ^ wanted) << 8 >> 8;
	return ret;
}

/* The next one's number in its group; false: there are no more. */
static bool next_match(struct matches *matches, unsigned *ret)
{
	const unsigned half = !matches->bits[0];

	if (!matches->bits[half])
		return false;
	*ret = half * 8 + __builtin_ctzll(matches->bits[half]) / 8;
	matches->bits[half] &= matches->bits[half] - 1;
	return true;
}

static uint32_t group_count(const struct live_part *part)
{
	return part->room / LIVE_GROUP;
}

static uint32_t home_of(const struct live_part *part, uint64_t hash)
{
	return share_of(hash, group_count(part));
}

static uint32_t next_of(const struct live_part *part, uint32_t group)
{
	return group + 1 == group_count(part) ? 0 : group + 1;
}

/* Once that is more than can be counted it stays so. */
static void count_passing(struct live_group *group, int more)
{
	if (group->passed != UINT8_MAX)
		group->passed += more;
}

/* There is room. */
static void insert(struct live_part *part, const struct live_block *block)
{
	const uint64_t hash = hash_of(block->handle);
	uint32_t at = home_of(part, hash);
	struct matches empty;
	unsigned i;

	for (;; at = next_of(part, at)) {
		empty = match(&part->groups[at], 0);
		if (next_match(&empty, &i))
			break;
		count_passing(&part->groups[at], 1);
	}
	part->groups[at].tags[i] = tag_of(hash);
	part->slots[at * LIVE_GROUP + i] = *block;
	part->used++;
}

static void grow(struct live_part *part)
{
	const struct live_part old = *part;
	const uint32_t groups = group_count(part);

	part->room = (groups + groups / 4 + 1) * LIVE_GROUP;
	part->used = 0;
	part->slots = xcalloc(part->room, sizeof(*part->slots));
	part->groups = xcalloc(group_count(part), sizeof(*part->groups));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.slots[i].site)
			insert(part, &old.slots[i]);
	free(old.slots);
	free(old.groups);
}

static void add_old(struct live *live, const struct live_block *block)
{
	struct live_part *part = part_of(live, hash_of(block->handle));

	if ((uint64_t)part->used * 16 + 16 > (uint64_t)part->room * 15)
		grow(part);
	insert(part, block);
}

/* Where it goes, or is looked for; what is written needn't be waited for. */
static void expect_group(const struct live *live, uint64_t hash)
{
	const struct live_part *part = part_of(live, hash);

	if (part->room)
		__builtin_prefetch(&part->groups[home_of(part, hash)], 1);
}

/* The only place of the young where it may be. */
static struct live_block *young_at(const struct live *live, uint64_t hash)
{
	const struct live_part *young = &live->parts[LIVE_PARTS];

	return &young->slots[share_of(hash, LIVE_YOUNG)];
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
	expect_group(live, hash);
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

/* The slot; NULL: it isn't there. */
static struct live_block *find_in(const struct live_part *part, uint32_t group,
				  uint64_t handle, uint8_t tag)
{
	struct matches matches = match(&part->groups[group], tag);
	unsigned i;

	while (next_match(&matches, &i)) {
		struct live_block *slot = &part->slots[group * LIVE_GROUP + i];

		if (slot->handle == handle)
			return slot;
	}
	return NULL;
}

static struct live_block *find_old(const struct live_part *part,
				   uint64_t handle, uint64_t hash)
{
	uint32_t group = home_of(part, hash), looked;

	for (looked = 0; looked < group_count(part); looked++) {
		struct live_block *found =
			find_in(part, group, handle, tag_of(hash));

		if (found || !part->groups[group].passed)
			return found;
		group = next_of(part, group);
	}
	return NULL;
}

struct live_block *live_find(const struct live *live, uint64_t handle)
{
	const uint64_t hash = hash_of(handle);
	struct live_block *young = find_young(live, handle, hash);

	return young ? young : find_old(part_of(live, hash), handle, hash);
}

void live_expect(const struct live *live, uint64_t handle)
{
	const uint64_t hash = hash_of(handle);
	const struct live_part *part = part_of(live, hash);
	struct matches matches;
	uint32_t group;
	unsigned i;

	if (!part->room || find_young(live, handle, hash))
		return;
	group = home_of(part, hash);
	matches = match(&part->groups[group], tag_of(hash));
	if (next_match(&matches, &i))
		__builtin_prefetch(&part->slots[group * LIVE_GROUP + i], 1);
}

static void remove_old(struct live_part *part, struct live_block *slot,
		       uint64_t hash)
{
	const uint32_t index = slot - part->slots;
	const uint32_t group = index / LIVE_GROUP;
	uint32_t at;

	for (at = home_of(part, hash); at != group; at = next_of(part, at))
		count_passing(&part->groups[at], -1);
	part->groups[group].tags[index % LIVE_GROUP] = 0;
	slot->site = 0;
	part->used--;
}

bool live_remove(struct live *live, uint64_t handle, struct live_block *ret)
{
	const uint64_t hash = hash_of(handle);
	struct live_part *part = part_of(live, hash);
	struct live_block *young = find_young(live, handle, hash);
	struct live_block *found = young ? young : find_old(part, handle, hash);

	if (!found)
		return false;
	*ret = *found;
	if (young)
		young->site = 0;
	else
		remove_old(part, found, hash);
	live->count--;
	return true;
}

size_t live_bytes(const struct live *live)
{
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(live->parts); i++) {
		const struct live_part *part = &live->parts[i];

		bytes += part->room * sizeof(*part->slots);
		if (part->groups)
			bytes += group_count(part) * sizeof(*part->groups);
	}
	return bytes;
}
