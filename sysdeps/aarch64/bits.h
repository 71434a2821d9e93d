/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_BITS_H
#define CALLTRAP_AARCH64_BITS_H

#include "base/types.h"

/* Fields of instructions: width bits from bit low on. */
static inline uint32_t bits(uint32_t word, unsigned low, unsigned width)
{
	return word >> low & ((UINT32_C(1) << width) - 1);
}

static inline int64_t signed_bits(uint32_t word, unsigned low, unsigned width)
{
	return (int32_t)(word << (32 - low - width)) >> (32 - width);
}

/* The register that results and bases are in, of most instructions. */
static inline unsigned rd(uint32_t word)
{
	return bits(word, 0, 5);
}

static inline unsigned rn(uint32_t word)
{
	return bits(word, 5, 5);
}

static inline bool is_adrp(uint32_t word)
{
	return (word & 0x9f000000) == 0x90000000;
}

/* What adr (in bytes) and adrp (in pages) add. */
static inline int64_t adr_immediate(uint32_t word)
{
	return signed_bits(word, 5, 19) * 4 + bits(word, 29, 2);
}

static inline taddr_t adrp_target(uint32_t word, taddr_t address)
{
	return (address & ~UINT64_C(0xfff)) +
	       (taddr_t)adr_immediate(word) * 0x1000;
}

/* ldr Xt, [Xn, #offset], without write-back. */
static inline bool is_ldr(uint32_t word)
{
	return (word & 0xffc00000) == 0xf9400000;
}

static inline unsigned ldr_offset(uint32_t word)
{
	return bits(word, 10, 12) * 8;
}

/* br, or blr, to a register whose value isn't signed. */
static inline bool is_br(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd61f0000;
}

static inline bool is_blr(uint32_t word)
{
	return (word & 0xfffffc1f) == 0xd63f0000;
}

#endif
