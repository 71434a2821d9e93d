/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "stack/private.h"

/* Frames further apart than that are no caller and callee. */
#define FRAME_MAX (UINT64_C(1) << 24)

/* ---- memory ---- */

/* A frame's lower words come after the one that asked. */
#define WINDOW_BEFORE 512

static bool fill_window(struct walk *walk, taddr_t address)
{
	walk->window_address = address;
	walk->window_size = memory_read_some(walk->memory, address,
					     walk->window, WINDOW_SIZE);
	return walk->window_size;
}

static bool is_in_window(const struct walk *walk, taddr_t address)
{
	taddr_t offset = address - walk->window_address;

	return offset < walk->window_size &&
	       walk->window_size - offset >= walk->arch->word_size;
}

static bool read_word(struct walk *walk, taddr_t address, uint64_t *ret)
{
	const uint8_t *bytes;
	uint32_t half;

	if (!is_in_window(walk, address)) {
		if ((address < WINDOW_BEFORE ||
		     !fill_window(walk, address - WINDOW_BEFORE) ||
		     !is_in_window(walk, address)) &&
		    (!fill_window(walk, address) ||
		     !is_in_window(walk, address)))
			return false;
	}
	bytes = walk->window + (address - walk->window_address);
	if (walk->arch->word_size == 8) {
		memcpy(ret, bytes, 8);
	} else {
		memcpy(&half, bytes, 4);
		*ret = half;
	}
	*ret = space_true_return(walk->own->space, address, *ret);
	return true;
}

/* ---- steps ---- */

static uint64_t cut_to_word(const struct walk *walk, uint64_t value)
{
	return walk->arch->word_size == 4 ? (uint32_t)value : value;
}

static bool is_known(const struct walk *walk, unsigned reg)
{
	return !(walk->unknown & UINT64_C(1) << reg);
}

static bool find_cfa(struct walk *walk, const struct unwind_row *row,
		     taddr_t *ret)
{
	if (!is_known(walk, row->cfa_base))
		return false;
	*ret = cut_to_word(walk,
			   walk->registers[row->cfa_base] + row->cfa_offset);
	if (!row->cfa_in_memory)
		return true;
	if (!read_word(walk, *ret, ret))
		return false;
	*ret = cut_to_word(walk, *ret + row->cfa_behind);
	return true;
}

static bool find_value(struct walk *walk, const struct saved_place *place,
		       taddr_t cfa, uint64_t *ret)
{
	uint64_t base = cfa;

	if (place->kind == PLACE_UNKNOWN)
		return false;
	if (place->base != BASE_CFA) {
		if (!is_known(walk, place->base))
			return false;
		base = walk->registers[place->base];
	}
	base = cut_to_word(walk, base + place->offset);
	if (place->kind == PLACE_MEMORY)
		return read_word(walk, base, ret);
	*ret = base;
	return true;
}

/* vfork() has taken its return address off the stack, which is shared. */
static bool returns_by_register(const struct unwind_row *row)
{
	return row->return_address.kind == PLACE_VALUE &&
	       row->return_address.base != BASE_CFA;
}

/*
 * Callers are further up; but what a signal has interrupted may be on another
 * stack, and so may be what code that switches stacks has written down.
 */
static bool is_above(const struct walk *walk, const struct unwind_row *row,
		     taddr_t cfa)
{
	taddr_t sp = walk->registers[walk->arch->dwarf->sp];

	return row->is_signal_frame || row->cfa_in_memory || cfa > sp ||
	       (cfa == sp && returns_by_register(row));
}

static void restore(struct walk *walk, const struct unwind_row *row,
		    taddr_t cfa)
{
	uint64_t values[DWARF_REGISTERS_MAX];
	uint64_t unknown = 0;
	unsigned i;

	/* Rules are about the registers as they were before the step. */
	for (i = 0; i < row->count; i++)
		if (!find_value(walk, &row->places[i], cfa, &values[i]))
			unknown |= UINT64_C(1) << i;
	for (i = 0; i < row->count; i++) {
		unsigned reg = row->places[i].reg;

		if (unknown & UINT64_C(1) << i) {
			walk->unknown |= UINT64_C(1) << reg;
			continue;
		}
		walk->unknown &= ~(UINT64_C(1) << reg);
		walk->registers[reg] = values[i];
	}
}

static void set_ip(struct walk *walk, uint64_t value)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;

	walk->registers[dwarf->ip] = dwarf->unsigned_address ?
					     dwarf->unsigned_address(value) :
					     value;
}

static bool read_for_frame(void *context, taddr_t address, uint64_t *ret)
{
	return read_word(context, address, ret);
}

static enum step step_by_libunwind(struct walk *walk,
				   const struct code_site *site)
{
	const unsigned sp = walk->arch->dwarf->sp;
	struct frame_state frame = {
		.unknown = walk->unknown,
		.read_word = read_for_frame,
		.context = walk,
	};

	memcpy(frame.registers, walk->registers, sizeof(frame.registers));
	if (!known_step(walk->own->unwinder, site->code->image,
			site->row->address, &frame) ||
	    !is_above(walk, site->row, frame.registers[sp]))
		return STEP_FAILED;
	memcpy(walk->registers, frame.registers, sizeof(walk->registers));
	walk->unknown = frame.unknown;
	set_ip(walk, walk_ip(walk));
	return STEP_DONE;
}

enum step step_by_row(struct walk *walk, const struct code_site *site)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;
	const struct unwind_row *row = site->row;
	uint64_t return_address;
	taddr_t cfa;

	if (row->is_unlearned)
		return step_by_libunwind(walk, site);
	if (row->is_outermost)
		return STEP_OUTERMOST;
	if (!find_cfa(walk, row, &cfa) || !is_above(walk, row, cfa) ||
	    !find_value(walk, &row->return_address, cfa, &return_address))
		return STEP_FAILED;
	restore(walk, row, cfa);
	walk->registers[dwarf->sp] = cfa;
	set_ip(walk, return_address);
	walk->unknown &= ~(UINT64_C(1) << dwarf->sp);
	/* A caller that returned by it, too, would have lost its own. */
	if (returns_by_register(row))
		walk->unknown |= UINT64_C(1) << row->return_address.base;
	return STEP_DONE;
}

/* Calls leave the return address in a register. */
static bool calls_by_register(const struct walk *walk)
{
	return walk->arch->dwarf->return_address != walk->arch->dwarf->ip;
}

/* Where a function that has done nothing yet returns to. */
static bool read_return_address(struct walk *walk, uint64_t *ret)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;

	if (!calls_by_register(walk))
		return read_word(walk, walk->registers[dwarf->sp], ret);
	*ret = walk->registers[dwarf->return_address];
	return is_known(walk, dwarf->return_address);
}

enum step step_from_entry(struct walk *walk)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;
	uint64_t return_address;

	if (!read_return_address(walk, &return_address))
		return STEP_FAILED;
	set_ip(walk, return_address);
	if (calls_by_register(walk))
		walk->unknown |= UINT64_C(1) << dwarf->return_address;
	else
		walk->registers[dwarf->sp] += walk->arch->word_size;
	return STEP_DONE;
}

enum step step_over_own_frame(struct walk *walk)
{
	const struct space *space = walk->own->space;
	const struct dwarf_arch *dwarf = walk->arch->dwarf;
	const taddr_t at = walk->registers[dwarf->sp] + space->own_frames.size;
	uint64_t address;

	if (!is_known(walk, dwarf->sp) || !read_word(walk, at, &address))
		return STEP_FAILED;
	set_ip(walk, address);
	walk->registers[dwarf->sp] = at + walk->arch->word_size;
	return STEP_DONE;
}

enum step step_from_system_call(struct walk *walk)
{
	uint64_t address;
	struct code_site *site;

	if (!read_return_address(walk, &address))
		return STEP_FAILED;
	site = site_find(walk->own, walk->pid, address, false);
	if (!site->code || !site_follows_call(walk->own, site, address))
		return STEP_FAILED;
	return step_from_entry(walk);
}

enum step step_from_handler(struct walk *walk)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;
	int32_t offsets[DWARF_REGISTERS_MAX] = { 0 };
	uint8_t code[TRAMPOLINE_MAX];
	taddr_t sp = walk->registers[dwarf->sp];
	unsigned i;

	if (!is_known(walk, dwarf->sp) ||
	    code_read(walk->own->space, walk_ip(walk), code, sizeof(code)) !=
		    sizeof(code) ||
	    !dwarf->is_signal_return(code, offsets))
		return STEP_FAILED;
	for (i = 0; i < dwarf->count; i++)
		if (offsets[i] &&
		    !read_word(walk, sp + offsets[i], &walk->registers[i]))
			return STEP_FAILED;
	walk->unknown = 0;
	return STEP_DONE;
}

static bool is_frame_above(const struct walk *walk, taddr_t sp, taddr_t fp)
{
	return fp >= sp && fp - sp <= FRAME_MAX &&
	       stack_is_whole(walk->own, sp, fp);
}

/*
 * push fp; mov sp, fp: at fp lies the caller's, and above it the return
 * address. Code without frame pointers has other things in that register, so
 * it must look right in every respect.
 */
enum step step_by_frame_pointer(struct walk *walk, enum switching switching)
{
	const struct dwarf_arch *dwarf = walk->arch->dwarf;
	const unsigned word = walk->arch->word_size;
	taddr_t fp = walk->registers[dwarf->fp];
	taddr_t sp = walk->registers[dwarf->sp];
	uint64_t outer, return_address;
	struct code_site *site;
	bool switches;

	if (!is_known(walk, dwarf->fp))
		return STEP_FAILED;
	if (!fp)
		return STEP_OUTERMOST;
	switches = !is_frame_above(walk, sp, fp);
	if (fp % word || (switches && !switch_is_right(walk, switching, fp)) ||
	    !read_word(walk, fp, &outer) ||
	    !read_word(walk, fp + word, &return_address))
		return STEP_FAILED;
	if (!outer && !return_address)
		return STEP_OUTERMOST;
	if (dwarf->unsigned_address)
		return_address = dwarf->unsigned_address(return_address);
	/* The first frame is made by hand, without a call: Go's goexit. */
	site = site_find(walk->own, walk->pid, return_address, false);
	if (!site->code ||
	    (outer && !site_follows_call(walk->own, site, return_address)))
		return STEP_FAILED;
	if (switches)
		walk->left = sp;
	if (switches && !walk->switched)
		walk->switched = fp;
	walk->registers[dwarf->fp] = outer;
	walk->registers[dwarf->ip] = return_address;
	walk->registers[dwarf->sp] = fp + 2 * word;
	walk->unknown = ~(UINT64_C(1) << dwarf->fp | UINT64_C(1) << dwarf->sp);
	/* Of a record somewhere in the frame, that is the least it can be. */
	if (calls_by_register(walk))
		walk->unknown |= UINT64_C(1) << dwarf->sp;
	return STEP_DONE;
}
