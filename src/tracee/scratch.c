/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "tracee/space.h"
#include "tracee/tracer.h"

struct scratch_area {
	taddr_t address;
	uint64_t size;
	uint64_t used;
};

struct scratch_copy {
	taddr_t address;
	taddr_t original; /* address of the instruction */
	uint8_t length;   /* of the instruction */
	uint8_t size;     /* of the copy */
	int8_t resume[INSN_COPY_MAX];
	uint8_t saved[INSN_COPY_MAX]; /* what was there before */
	UT_hash_handle hh;
};

/* Less is not worth a search. */
#define AREA_MIN INSN_COPY_MAX

/* Where machines have such a rule, instructions begin at multiples of this. */
#define COPY_ALIGN 4

/* Copies have their places side by side. */
static uint64_t whole_places(uint64_t size)
{
	return (size + INSN_COPY_MAX - 1) / INSN_COPY_MAX * INSN_COPY_MAX;
}

/* Where an earlier one was left, all up to its end may be somebody's. */
static uint64_t behind_guests(struct space *space, taddr_t address,
			      uint64_t size)
{
	static const uint64_t mark = SCRATCH_GUEST_MARK;
	uint8_t bytes[PAGE_SIZE];
	uint64_t used = 0;
	size_t at;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	size = procmem_read_code(&space->memory, address, bytes, size);
	for (at = sizeof(mark); at <= size; at++)
		if (!memcmp(bytes + at - sizeof(mark), &mark, sizeof(mark)))
			used = whole_places(at);
	return used;
}

void scratch_add_area(struct space *space, taddr_t address, uint64_t size)
{
	struct scratch *scratch = &space->scratch;
	const taddr_t gap = -address % COPY_ALIGN;
	uint64_t used;

	if (size < gap)
		return;
	address += gap;
	size -= gap;
	/*
	 * What is loaded later may be unloaded, and a copy with it, while
	 * tasks are on their way through it.
	 */
	if (size < AREA_MIN || space->linkmap.complete)
		return;
	used = behind_guests(space, address, size);
	if (used > size - AREA_MIN)
		return;
	address += used;
	size -= used;
	scratch->areas = xgrow(scratch->areas, scratch->area_count,
			       &scratch->area_room, sizeof(*scratch->areas));
	scratch->areas[scratch->area_count++] =
		(struct scratch_area){ .address = address, .size = size };
}

static void drop_copy(struct scratch *scratch, struct scratch_copy *copy)
{
	HASH_DEL(scratch->copies, copy);
	free(copy);
}

void scratch_forget_range(struct space *space, taddr_t low, taddr_t high)
{
	struct scratch *scratch = &space->scratch;
	struct scratch_copy *copy, *next;
	struct trap *trap, *next_trap;
	size_t i = 0;

	while (i < scratch->area_count) {
		struct scratch_area *area = &scratch->areas[i];

		if (area->address >= low && area->address < high)
			*area = scratch->areas[--scratch->area_count];
		else
			i++;
	}
	if (scratch->kept_place >= low && scratch->kept_place < high)
		scratch->kept_place = 0;
	if (scratch->guest.place >= low && scratch->guest.place < high)
		scratch->guest.place = 0;
	HASH_ITER(hh, scratch->copies, copy, next)
		if (copy->address >= low && copy->address < high)
			drop_copy(scratch, copy);
	HASH_ITER(hh, space->traps, trap, next_trap)
		if (trap->copy >= low && trap->copy < high)
			trap->copy = 0;
}

static bool has_room(const struct scratch_area *area, uint64_t size)
{
	return area->size - area->used >= size;
}

/* The only area that has room for what is to be taken, and not for more. */
static bool is_kept(const struct scratch *scratch,
		    const struct scratch_area *area)
{
	const uint64_t kept = scratch->kept;
	size_t i;

	if (!kept || scratch->kept_place || !has_room(area, kept) ||
	    has_room(area, kept + INSN_COPY_MAX))
		return false;
	for (i = 0; i < scratch->area_count; i++)
		if (&scratch->areas[i] != area &&
		    has_room(&scratch->areas[i], kept))
			return false;
	return true;
}

/* The place of a copy whose trap is gone, or one that was never used. */
static taddr_t find_place(struct scratch *scratch, struct scratch_area *area)
{
	size_t i;

	for (i = 0; i < scratch->free_count; i++)
		if (scratch->free[i] - area->address < area->size)
			return scratch->free[i];
	return !has_room(area, INSN_COPY_MAX) || is_kept(scratch, area) ?
		       0 :
		       area->address + area->used;
}

static void take_place(struct scratch *scratch, struct scratch_area *area,
		       taddr_t address)
{
	size_t i;

	for (i = 0; i < scratch->free_count; i++) {
		if (scratch->free[i] == address) {
			scratch->free[i] = scratch->free[--scratch->free_count];
			return;
		}
	}
	area->used += INSN_COPY_MAX;
}

static struct scratch_copy *
place_in(struct space *space, struct scratch_area *area, struct trap *trap)
{
	taddr_t place = find_place(&space->scratch, area);
	struct scratch_copy *copy;
	uint8_t bytes[INSN_COPY_MAX];
	int size;

	if (!place)
		return NULL;
	copy = xcalloc(1, sizeof(*copy));
	copy->address = place;
	copy->original = trap->address;
	copy->length = trap->insn.length;
	size = space->arch->insn_relocate(&trap->insn, copy->address, bytes,
					  copy->resume);
	if (size <= 0 || charge_page(space, copy->address) ||
	    procmem_read_code(&space->memory, copy->address, copy->saved,
			      size) != (size_t)size ||
	    procmem_write_code(&space->memory, copy->address, bytes, size)) {
		free(copy);
		return NULL;
	}
	copy->size = size;
	take_place(&space->scratch, area, place);
	HASH_ADD(hh, space->scratch.copies, address, sizeof(copy->address),
		 copy);
	return copy;
}

taddr_t scratch_copy_of(struct space *space, struct trap *trap)
{
	struct scratch *scratch = &space->scratch;
	size_t i;

	for (i = 0;
	     i < scratch->area_count && !trap->copy && !trap->copy_failed;
	     i++) {
		struct scratch_area *area = &scratch->areas[i];
		struct scratch_copy *copy;

		copy = place_in(space, area, trap);
		if (copy)
			trap->copy = copy->address;
	}
	/* What is kept now may be had later. */
	if (!trap->copy)
		trap->copy_failed = !scratch->kept;
	return trap->copy;
}

static void add_free(struct scratch *scratch, taddr_t place)
{
	scratch->free = xgrow(scratch->free, scratch->free_count,
			      &scratch->free_room, sizeof(*scratch->free));
	scratch->free[scratch->free_count++] = place;
}

void scratch_release(struct space *space, struct trap *trap)
{
	struct scratch *scratch = &space->scratch;
	struct scratch_copy *copy;

	if (!trap->copy)
		return;
	HASH_FIND(hh, scratch->copies, &trap->copy, sizeof(trap->copy), copy);
	trap->copy = 0;
	if (!copy)
		return;
	if (procmem_write_code(&space->memory, copy->address, copy->saved,
			       copy->size))
		diag_debug(DIAG_TRAP, "copy at %#" PRIx64 " stays",
			   copy->address);
	add_free(scratch, copy->address);
	drop_copy(scratch, copy);
}

static bool in_areas(const struct scratch *scratch, taddr_t ip)
{
	size_t i;

	for (i = 0; i < scratch->area_count; i++)
		if (ip - scratch->areas[i].address < scratch->areas[i].used)
			return true;
	return false;
}

bool scratch_resolve_ip(struct space *space, taddr_t ip, taddr_t *ip_ret,
			bool *done_ret)
{
	struct scratch *scratch = &space->scratch;
	struct scratch_copy *copy, *next;

	if (!in_areas(scratch, ip))
		return false;
	HASH_ITER(hh, scratch->copies, copy, next) {
		uint64_t at = ip - copy->address;

		if (at >= copy->size || copy->resume[at] < 0)
			continue;
		*ip_ret = copy->original + copy->resume[at];
		*done_ret = copy->resume[at] != 0;
		return true;
	}
	return false;
}

static void clean_copies(struct space *space, struct procmem *child)
{
	struct scratch_copy *copy, *next;

	HASH_ITER(hh, space->scratch.copies, copy, next)
		if (procmem_write_code(child, copy->address, copy->saved,
				       copy->size))
			diag_debug(DIAG_TRAP, "copy at %#" PRIx64 " stays",
				   copy->address);
}

void scratch_inherit(struct space *child, const struct space *parent)
{
	const struct scratch *from = &parent->scratch;
	struct scratch *to = &child->scratch;
	struct scratch_copy *copy, *next;
	size_t i;

	HASH_ITER(hh, from->copies, copy, next) {
		struct scratch_copy *own = xmalloc(sizeof(*own));

		*own = *copy;
		HASH_ADD(hh, to->copies, address, sizeof(own->address), own);
	}
	for (i = 0; i < from->area_count; i++) {
		to->areas = xgrow(to->areas, to->area_count, &to->area_room,
				  sizeof(*to->areas));
		to->areas[to->area_count] = from->areas[i];
		to->areas[to->area_count++].used = from->areas[i].size;
	}
}

void scratch_keep(struct space *space, uint64_t size)
{
	struct scratch *scratch = &space->scratch;
	uint64_t i;

	if (scratch->kept_place)
		for (i = 0; i < scratch->kept; i += INSN_COPY_MAX)
			add_free(scratch, scratch->kept_place + i);
	scratch->kept_place = 0;
	scratch->kept = whole_places(size);
}

/* What was given back, but not as the last of its area. */
static taddr_t take_kept(struct scratch *scratch, uint64_t size)
{
	const taddr_t place =
		whole_places(size) <= scratch->kept ? scratch->kept_place : 0;

	if (place)
		scratch->kept_place = 0;
	return place;
}

static taddr_t take(struct space *space, uint64_t size)
{
	struct scratch *scratch = &space->scratch;
	const taddr_t kept = take_kept(scratch, size);
	size_t i;

	for (i = 0; i < scratch->area_count && !kept; i++) {
		struct scratch_area *area = &scratch->areas[i];
		const taddr_t place = area->address + area->used;

		if (!has_room(area, whole_places(size)) ||
		    charge_page(space, place))
			continue;
		area->used += whole_places(size);
		return place;
	}
	return kept;
}

/* What was taken last can be taken again, and what is kept for that. */
static void give_back(struct space *space, taddr_t place, uint64_t size)
{
	struct scratch *scratch = &space->scratch;
	size_t i;

	for (i = 0; i < scratch->area_count; i++) {
		struct scratch_area *area = &scratch->areas[i];

		if (place + whole_places(size) != area->address + area->used)
			continue;
		area->used = place - area->address;
		return;
	}
	if (whole_places(size) == scratch->kept)
		scratch->kept_place = place;
}

int scratch_begin_guest(struct space *space, const struct task *task,
			uint64_t size)
{
	struct scratch_guest *guest = &space->scratch.guest;

	if (guest->place || size > sizeof(guest->before))
		return -EBUSY;
	*guest = (struct scratch_guest){
		.place = take(space, size),
		.size = size,
		.tid = task->tid,
		.regs = task->regs,
	};
	if (!guest->place)
		return -ENOSPC;
	if (procmem_read_code(&space->memory, guest->place, guest->before,
			      size) == size)
		return 0;
	give_back(space, guest->place, size);
	guest->place = 0;
	return -EIO;
}

static int put_back_guest(const struct space *space, struct procmem *memory)
{
	const struct scratch_guest *guest = &space->scratch.guest;

	return guest->place ? procmem_write_code(memory, guest->place,
						 guest->before, guest->size) :
			      0;
}

int scratch_write_guest(struct space *space, const void *code)
{
	const struct scratch_guest *guest = &space->scratch.guest;

	return procmem_write_code(&space->memory, guest->place, code,
				  guest->size);
}

void scratch_end_guest(struct space *space)
{
	struct scratch_guest *guest = &space->scratch.guest;

	if (!guest->place)
		return;
	if (put_back_guest(space, &space->memory))
		diag_debug(DIAG_TRAP, "guest at %#" PRIx64 " stays",
			   guest->place);
	else
		give_back(space, guest->place, guest->size);
	guest->place = 0;
}

void scratch_abandon_guest(struct space *space)
{
	space->scratch.guest.place = 0;
}

bool scratch_is_guest(const struct space *space, taddr_t ip)
{
	const struct scratch_guest *guest = &space->scratch.guest;

	return guest->place && ip - guest->place < guest->size;
}

void scratch_lose_task(struct space *space, pid_t tid)
{
	struct scratch_guest *guest = &space->scratch.guest;

	if (guest->place && guest->tid == tid)
		guest->left = true;
}

void scratch_clean_copy(struct space *space, struct procmem *child,
			pid_t forker)
{
	clean_copies(space, child);
	if (forker && forker != space->scratch.guest.tid)
		(void)put_back_guest(space, child);
}

void scratch_restore(struct space *space)
{
	struct scratch *scratch = &space->scratch;
	struct scratch_copy *copy, *next;
	struct trap *trap, *next_trap;
	size_t i;

	clean_copies(space, &space->memory);
	if (scratch->guest.left)
		scratch_end_guest(space);
	HASH_ITER(hh, scratch->copies, copy, next)
		drop_copy(scratch, copy);
	HASH_ITER(hh, space->traps, trap, next_trap)
		trap->copy = 0;
	for (i = 0; i < scratch->area_count; i++)
		scratch->areas[i].used = 0;
	scratch->free_count = 0;
	scratch->kept_place = 0;
}

void scratch_free(struct space *space)
{
	struct scratch_copy *copy, *next;

	HASH_ITER(hh, space->scratch.copies, copy, next)
		drop_copy(&space->scratch, copy);
	free(space->scratch.areas);
	free(space->scratch.free);
	space->scratch = (struct scratch){ 0 };
}
