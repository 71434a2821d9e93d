/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/jump.h"

static uint64_t rotate_right(uint64_t value, unsigned by, unsigned bits)
{
	if (bits == 32)
		value &= UINT32_MAX;
	value = value >> by | value << (bits - by);
	return bits == 32 ? value & UINT32_MAX : value;
}

size_t x86_jump_targets(const struct x86_jump *jump, struct memory *memory,
			taddr_t buffer, taddr_t thread,
			taddr_t ret[JUMP_TARGETS_MAX])
{
	const unsigned size = jump->word_size;
	uint64_t stored, guard;

	if (memory_read_word(memory, buffer + jump->member * size, size,
			     &stored))
		return 0;
	ret[0] = stored;
	if (memory_read_word(memory, thread + jump->guard, size, &guard))
		return 1;
	ret[1] = rotate_right(stored, jump->rotation, size * 8) ^ guard;
	return 2;
}
