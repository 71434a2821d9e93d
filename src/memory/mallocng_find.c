/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "memory/mallocng_private.h"
#include "memory/module_data.h"

#define METAS_MAX ((AREA_SIZE - AREA_METAS) / META_SIZE)
#define UNIT      BLOCK_UNIT
#define PAGE      4096

/* Nothing that a process has lies there, and sums don't overflow. */
#define ADDRESS_MAX (UINT64_C(1) << 56)

/* Slots of each class, in units of 16 bytes. */
static const uint16_t class_units[CLASS_COUNT] = {
	1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   12,   15,
	18,   20,   25,   31,   36,   42,   50,   63,   72,   84,   102,  127,
	146,  170,  204,  255,  292,  340,  409,  511,  584,  682,  818,  1023,
	1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t int_at(const uint8_t *bytes, size_t offset)
{
	uint32_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

void mallocng_set_trouble(struct ng_heap *ng, taddr_t where, const char *why)
{
	struct glibc_arena *arena = &ng->heap->arenas[0];

	if (arena->why)
		return;
	arena->trouble = where;
	arena->why = why;
}

/* ---- the context ---- */

struct context {
	taddr_t address;
	size_t size;
	uint64_t secret;
	taddr_t first, last; /* areas */
};

static bool is_page(uint64_t word)
{
	return word >= 4096 && word <= 65536 && !(word & (word - 1));
}

static bool is_area(taddr_t address)
{
	return address && address % AREA_SIZE == 0 && address < ADDRESS_MAX;
}

/* bytes: CONTEXT_SIZE of them, and a word. */
static bool take_context(const uint8_t *bytes, taddr_t address,
			 struct context *ret)
{
	const size_t more = is_page(word_at(bytes, CONTEXT_PAGE)) ? 8 : 0;

	if (int_at(bytes, CONTEXT_READY + more) != 1)
		return false;
	*ret = (struct context){
		.address = address,
		.size = CONTEXT_SIZE + more,
		.secret = word_at(bytes, CONTEXT_SECRET),
		.first = word_at(bytes, CONTEXT_FIRST + more),
		.last = word_at(bytes, CONTEXT_LAST + more),
	};
	return ret->secret && is_area(ret->first) && is_area(ret->last);
}

static bool read_area(struct ng_heap *ng, const struct context *context,
		      taddr_t address, uint8_t bytes[AREA_SIZE])
{
	return is_area(address) &&
	       !memory_read(&ng->window->memory, address, bytes, AREA_SIZE) &&
	       word_at(bytes, AREA_SECRET) == context->secret &&
	       int_at(bytes, AREA_COUNT) <= METAS_MAX;
}

/* ---- metas ---- */

/* Whether the others of its ring know it. */
static bool is_in_ring(struct ng_heap *ng, taddr_t address, const uint8_t *meta)
{
	const taddr_t previous = word_at(meta, META_PREVIOUS);
	const taddr_t next = word_at(meta, META_NEXT);
	taddr_t back, forth;

	if (!previous && !next)
		return true;
	return !memory_read(&ng->window->memory, previous + META_NEXT, &forth,
			    sizeof(forth)) &&
	       !memory_read(&ng->window->memory, next + META_PREVIOUS, &back,
			    sizeof(back)) &&
	       forth == address && back == address;
}

/* False when there are no such slots. */
static bool measure(struct ng_group *group, uint64_t word)
{
	const uint64_t pages = META_PAGES(word);
	const unsigned class = META_CLASS(word);

	group->slots = META_SLOTS(word);
	group->mapped = class == CLASS_MAPPED;
	if (pages >= ADDRESS_MAX / PAGE ||
	    (group->mapped ? group->slots > 1 || !pages : class >= CLASS_COUNT))
		return false;
	if (group->slots == 1 && pages)
		group->stride = pages * PAGE - GROUP_HEAD;
	else
		group->stride = (uint64_t)class_units[class] * UNIT;
	group->size = GROUP_HEAD + group->slots * group->stride;
	return !pages || group->size <= pages * PAGE;
}

static void take_meta(struct ng_heap *ng, taddr_t address, const uint8_t *meta)
{
	const uint32_t free = int_at(meta, META_FREE);
	const uint32_t freed = int_at(meta, META_FREED);
	struct ng_group group = {
		.meta = address,
		.address = word_at(meta, META_GROUP),
		.free = free | freed,
	};

	if (!group.address)
		return;
	if (group.address % UNIT || group.address >= ADDRESS_MAX ||
	    !measure(&group, word_at(meta, META_WORD)) || free & freed ||
	    !is_in_ring(ng, address, meta)) {
		mallocng_set_trouble(ng, address, "a group makes no sense");
		return;
	}
	ng->groups =
		xgrow(ng->groups, ng->count, &ng->room, sizeof(*ng->groups));
	ng->groups[ng->count++] = group;
}

static void take_area(struct ng_heap *ng, taddr_t address,
		      const uint8_t bytes[AREA_SIZE])
{
	const uint32_t count = int_at(bytes, AREA_COUNT);

	for (uint32_t i = 0; i < count; i++) {
		const size_t at = AREA_METAS + i * META_SIZE;

		take_meta(ng, address + at, bytes + at);
	}
	ng->heap->arenas[0].system_bytes += AREA_SIZE;
}

/*
 * All areas lead from the first to the last. One that comes again would do so
 * for ever: it is compared with what came at each power of two.
 */
static void take_areas(struct ng_heap *ng, const struct context *context)
{
	taddr_t address = context->first, mark = 0;
	uint8_t bytes[AREA_SIZE];

	for (uint64_t i = 1;; i++) {
		if (address == mark ||
		    !read_area(ng, context, address, bytes)) {
			mallocng_set_trouble(ng, address,
					     "an area doesn't follow another");
			return;
		}
		take_area(ng, address, bytes);
		if (address == context->last)
			return;
		if (!(i & (i - 1)))
			mark = address;
		address = word_at(bytes, AREA_NEXT);
	}
}

static void add_arena(struct glibc *heap, const struct context *context)
{
	heap->arenas = xgrow(heap->arenas, heap->arena_count, &heap->arena_room,
			     sizeof(*heap->arenas));
	heap->arenas[heap->arena_count++] = (struct glibc_arena){
		.address = context->address,
		.size = context->size,
		.main = true,
		.tops = SIZE_MAX,
	};
}

static bool look_through(struct ng_heap *ng, const struct module_data *data,
			 struct context *ret)
{
	uint8_t area[AREA_SIZE];

	for (size_t at = 0; at + CONTEXT_SIZE + 8 <= data->size; at += 8)
		if (take_context(data->bytes + at, data->start + at, ret) &&
		    read_area(ng, ret, ret->first, area) &&
		    read_area(ng, ret, ret->last, area))
			return true;
	return false;
}

bool mallocng_find(struct memory *memory, const struct mappings *mappings,
		   struct ng_heap *ng)
{
	struct module_data data;
	struct context context;
	bool found = false;
	size_t at = 0;

	while (!found && module_data_next(memory, mappings, &at, &data)) {
		found = look_through(ng, &data, &context);
		free(data.bytes);
	}
	if (!found)
		return false;
	add_arena(ng->heap, &context);
	take_areas(ng, &context);
	return true;
}
