/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/plt.h"

#include <string.h>

#include "sysdeps/aarch64/bits.h"

/*
 * What the linkers write (ELF for the Arm 64-bit Architecture, SysVABI; GNU
 * ld, gold, lld, mold):
 *
 *	[bti c]  adrp x16, page  ldr x17, [x16, #n]  [add x16, x16, #n]
 *	[autia1716]  br x17
 *
 * and nops. A copy of it in a table's head begins at another instruction, and
 * its slot is no function's.
 */
enum { SIZE = 4 };

#define BTI_C     0xd503245fu
#define AUTIA1716 0xd503219fu
#define BR_X17    0xd61f0220u
#define IP0       16
#define IP1       17

static uint32_t word_at(const uint8_t *code, size_t size, size_t at)
{
	uint32_t word = 0;

	if (at <= size && size - at >= SIZE)
		memcpy(&word, code + at, SIZE);
	return word;
}

static bool is_add_to_ip0(uint32_t word)
{
	return (word & 0xff8003ff) == (0x91000000 | IP0 << 5 | IP0);
}

/* The bytes from adrp to the end of br, and the slot; 0: it is no stub. */
static size_t read_stub(const uint8_t *code, size_t size, size_t at,
			taddr_t address, taddr_t *slot_ret)
{
	const size_t start = at;
	const uint32_t page = word_at(code, size, at);
	const uint32_t load = word_at(code, size, at + SIZE);

	if (!is_adrp(page) || rd(page) != IP0 || !is_ldr(load) ||
	    rd(load) != IP1 || rn(load) != IP0)
		return 0;
	at += 2 * SIZE;
	if (is_add_to_ip0(word_at(code, size, at)))
		at += SIZE;
	if (word_at(code, size, at) == AUTIA1716)
		at += SIZE;
	if (word_at(code, size, at) != BR_X17)
		return 0;
	*slot_ret = adrp_target(page, address + start) + ldr_offset(load);
	return at + SIZE - start;
}

bool aarch64_plt_stub(const uint8_t *code, size_t size, size_t at,
		      taddr_t address, taddr_t got UNUSED, struct plt_stub *ret)
{
	size_t before = 0, length;
	taddr_t slot;

	if ((address + at) % SIZE)
		return false;
	/* Seen from its bti, or from behind that. */
	if (word_at(code, size, at) == BTI_C) {
		before = SIZE;
		at += SIZE;
	} else if (at >= SIZE && word_at(code, size, at - SIZE) == BTI_C) {
		before = SIZE;
	}
	length = read_stub(code, size, at, address, &slot);
	if (!length)
		return false;
	ret->start = address + at - before;
	ret->slot = slot;
	ret->size = (uint8_t)(before + length);
	return true;
}

/* What may come between, as the compiler schedules it. */
#define REACH 8

/* Of the words before code[at]: the last one that writes it so. */
static bool find_back(const uint8_t *code, size_t at,
		      bool (*is_wanted)(uint32_t), unsigned reg, size_t *at_ret)
{
	for (unsigned i = 0; i < REACH && at >= SIZE; i++) {
		uint32_t word;

		at -= SIZE;
		memcpy(&word, code + at, SIZE);
		if (is_wanted(word) && rd(word) == reg) {
			*at_ret = at;
			return true;
		}
	}
	return false;
}

/* adrp, ldr, and at code[at] the branch to that register. */
static bool slot_of(const uint8_t *code, size_t at, unsigned reg,
		    taddr_t address, taddr_t *slot_ret)
{
	uint32_t load, page;

	if (!find_back(code, at, is_ldr, reg, &at))
		return false;
	memcpy(&load, code + at, SIZE);
	if (!find_back(code, at, is_adrp, rn(load), &at))
		return false;
	memcpy(&page, code + at, SIZE);
	*slot_ret = adrp_target(page, address + at) + ldr_offset(load);
	return true;
}

bool aarch64_slot_jump(const uint8_t *code, size_t size, size_t at,
		       taddr_t address, taddr_t got UNUSED, taddr_t *slot_ret)
{
	const uint32_t word = word_at(code, size, at);

	return (address + at) % SIZE == 0 && is_br(word) &&
	       slot_of(code, at, rn(word), address, slot_ret);
}

bool aarch64_slot_called(struct memory *memory, taddr_t return_address,
			 taddr_t got UNUSED, taddr_t *slot_ret)
{
	uint8_t code[2 * REACH * SIZE + SIZE];
	const taddr_t address = return_address - sizeof(code);
	uint32_t word;

	if (memory_read(memory, address, code, sizeof(code)))
		return false;
	word = word_at(code, sizeof(code), sizeof(code) - SIZE);
	return is_blr(word) &&
	       slot_of(code, sizeof(code) - SIZE, rn(word), address, slot_ret);
}
