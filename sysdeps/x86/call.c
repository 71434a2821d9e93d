/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/call.h"

enum {
	CALL_RELATIVE = 0xe8,
	GROUP_5 = 0xff,
	NEAR_CALL = 2, /* the operation of that group */
};

/* The bytes of a ModRM operand, from that byte on. */
static size_t operand_length(const uint8_t *modrm, size_t size)
{
	unsigned mode = modrm[0] >> 6, base = modrm[0] & 7;
	size_t length = 1;

	if (mode == 3)
		return length;
	if (base == 4) {
		length++;
		base = size > 1 ? modrm[1] & 7 : 0;
	}
	if (mode == 1)
		return length + 1;
	if (mode == 2 || base == 5)
		return length + 4;
	return length;
}

/* call *OPERAND: FF /2. */
static bool is_indirect_call(const uint8_t *code, size_t size)
{
	return code[0] == GROUP_5 && (code[1] >> 3 & 7) == NEAR_CALL &&
	       operand_length(code + 1, size - 1) == size - 1;
}

bool x86_ends_in_call(const uint8_t *code, size_t size)
{
	const uint8_t *end = code + size;
	size_t length;

	if (size >= 5 && end[-5] == CALL_RELATIVE)
		return true;
	for (length = 2; length <= 7 && length <= size; length++)
		if (is_indirect_call(end - length, length))
			return true;
	return false;
}
