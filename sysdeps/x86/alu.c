/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/alu.h"

#include "sysdeps/x86/registers.h"

enum {
	FLAG_CARRY = 1 << 0,
	FLAG_PARITY = 1 << 2,
	FLAG_ADJUST = 1 << 4,
	FLAG_ZERO = 1 << 6,
	FLAG_SIGN = 1 << 7,
	FLAG_OVERFLOW = 1 << 11,
};

static const uint64_t arithmetic = FLAG_CARRY | FLAG_PARITY | FLAG_ADJUST |
				   FLAG_ZERO | FLAG_SIGN | FLAG_OVERFLOW;

static bool top_bit(uint64_t value, unsigned size)
{
	return value >> (8 * size - 1) & 1;
}

static uint64_t result_flags(uint64_t result, unsigned size)
{
	uint64_t flags = 0;

	if (!__builtin_parity((uint8_t)result))
		flags |= FLAG_PARITY;
	if (!result)
		flags |= FLAG_ZERO;
	if (top_bit(result, size))
		flags |= FLAG_SIGN;
	return flags;
}

static uint64_t add(uint64_t a, uint64_t b, unsigned size, uint64_t *flags)
{
	uint64_t result = x86_truncate(a + b, size);

	*flags = result_flags(result, size) | ((a ^ b ^ result) & FLAG_ADJUST);
	if (result < a)
		*flags |= FLAG_CARRY;
	if (top_bit((a ^ result) & (b ^ result), size))
		*flags |= FLAG_OVERFLOW;
	return result;
}

static uint64_t subtract(uint64_t a, uint64_t b, unsigned size, uint64_t *flags)
{
	uint64_t result = x86_truncate(a - b, size);

	*flags = result_flags(result, size) | ((a ^ b ^ result) & FLAG_ADJUST);
	if (a < b)
		*flags |= FLAG_CARRY;
	if (top_bit((a ^ b) & (a ^ result), size))
		*flags |= FLAG_OVERFLOW;
	return result;
}

/* The manual leaves the adjust flag undefined; processors clear it. */
static uint64_t logic(uint64_t result, unsigned size, uint64_t *flags)
{
	*flags = result_flags(result, size);
	return result;
}

static uint64_t compute(enum x86_kind kind, uint64_t a, uint64_t b,
			unsigned size, uint64_t *flags)
{
	switch (kind) {
	case X86_ADD:
		return add(a, b, size, flags);
	case X86_SUB:
	case X86_COMPARE:
		return subtract(a, b, size, flags);
	case X86_OR:
		return logic(a | b, size, flags);
	case X86_XOR:
		return logic(a ^ b, size, flags);
	default:
		return logic(a & b, size, flags);
	}
}

uint64_t x86_alu(enum x86_kind kind, uint64_t a, uint64_t b, unsigned size,
		 uint64_t *eflags)
{
	uint64_t flags = 0;
	uint64_t result = compute(kind, x86_truncate(a, size),
				  x86_truncate(b, size), size, &flags);

	*eflags = (*eflags & ~arithmetic) | flags;
	return result;
}

bool x86_flag_zero(uint64_t eflags)
{
	return eflags & FLAG_ZERO;
}

/* Intel SDM volume 1, appendix B: the lowest bit negates. */
bool x86_condition(unsigned code, uint64_t eflags)
{
	bool less = !(eflags & FLAG_SIGN) != !(eflags & FLAG_OVERFLOW);
	const bool holds[8] = {
		eflags & FLAG_OVERFLOW,
		eflags & FLAG_CARRY,
		eflags & FLAG_ZERO,
		eflags & (FLAG_CARRY | FLAG_ZERO),
		eflags & FLAG_SIGN,
		eflags & FLAG_PARITY,
		less,
		less || (eflags & FLAG_ZERO),
	};

	return holds[code >> 1 & 7] != (code & 1);
}
