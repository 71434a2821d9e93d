/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/trap.h"

/* int3 has a second form, CD 03. */
bool x86_is_behind_int3(struct memory *memory, taddr_t ip)
{
	uint8_t code[2];

	if (memory_read(memory, ip - 2, code, sizeof(code)))
		return true;
	return code[1] == X86_INT3 || (code[0] == 0xcd && code[1] == 0x03);
}
