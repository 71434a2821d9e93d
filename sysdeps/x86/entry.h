/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_ENTRY_H
#define CALLTRAP_X86_ENTRY_H

#include "sysdeps/x86/insn.h"

/*
 * A function's first instructions where a jump of five bytes is to stand, and
 * a copy of them that goes on behind it. In 64 bits.
 */
#define X86_ENTRY_SIZE 5

/* The longest copy: five instructions that grow, and the way back. */
#define X86_ENTRY_COPY_MAX 80

/* The furthest that a copy may end behind what the jump leads to. */
#define X86_ENTRY_SPREAD 256

struct x86_entry {
	taddr_t address;
	unsigned length; /* of them all: X86_ENTRY_SIZE or more */
	uint64_t size;   /* the function's, as far as that is known; else 0 */
	unsigned count;
	struct insn insns[X86_ENTRY_SIZE];
};

/*
 * Returns a negative errno when they can't be moved: a call is among them, or
 * the function ends before.
 */
int x86_entry_decode(taddr_t address, const uint8_t *code, size_t n,
		     struct x86_entry *ret) MUST_CHECK;

/*
 * The copy for a place. places_ret[i]: where in it goes on who is at the
 * instruction that begins i bytes behind the function's; 0: none does. Returns
 * its size, or -ERANGE.
 */
int x86_entry_copy(const struct x86_entry *entry, taddr_t to,
		   uint8_t ret[X86_ENTRY_COPY_MAX],
		   taddr_t places_ret[X86_ENTRY_SIZE]) MUST_CHECK;

/*
 * The first address of [low, high) that the jump may lead to: where one of its
 * bytes stands at the begin of an instruction, that byte traps whoever is about
 * to run it, and from where a copy reaches all that the original does. 0: there
 * is none.
 */
taddr_t x86_entry_target(const struct x86_entry *entry, taddr_t low,
			 taddr_t high);

void x86_entry_jump(const struct x86_entry *entry, taddr_t target,
		    uint8_t ret[X86_ENTRY_SIZE]);

/*
 * Bytes that would be a branch into its midst, or from within the function to
 * its begin (a loop, whose rounds are no calls), if an instruction ends with
 * them: where that end is in the code at address; 0: there are none. The next
 * ones are found from there.
 */
size_t x86_entry_find_branch(const struct x86_entry *entry, taddr_t address,
			     const uint8_t *code, size_t n, size_t from);

#endif
