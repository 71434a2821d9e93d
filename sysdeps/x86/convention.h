/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_CONVENTION_H
#define CALLTRAP_X86_CONVENTION_H

#include "sysdeps/arch.h"

/* What the calling conventions of both machines share. */

static inline void passed_in_memory(taddr_t address, struct passed *ret)
{
	*ret = (struct passed){ .in_memory = true, .address = address };
}

/* A number of at most 16 bytes that was in one or two registers. */
static inline void passed_in_registers(uint64_t low, uint64_t high,
				       struct passed *ret)
{
	const uint64_t halves[2] = { low, high };

	*ret = (struct passed){ 0 };
	__builtin_memcpy(ret->bytes, halves, sizeof(halves));
}

/*
 * The next stack argument, in slots of word bytes; moves on behind it. The
 * alignment is that of the offset from the first one, at base: so compilers
 * reckon, and not all see to it that base is as well aligned.
 */
taddr_t x86_stack_argument(struct argument_cursor *cursor, taddr_t base,
			   uint64_t size, uint64_t align, unsigned word);

/* st0 or st1 as it is: ten bytes and six of zeros. */
int x86_st_get(const struct fp_regs *fp, unsigned number, uint8_t ret[16]);

/* The low (0) or high (1) half of a vector register. */
int x86_xmm_get(const struct fp_regs *fp, unsigned number, unsigned half,
		uint8_t ret[8]);

#endif
