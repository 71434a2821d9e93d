/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/convention.h"

#include <errno.h>
#include <string.h>

static taddr_t round_up(taddr_t value, uint64_t to)
{
	return (value + to - 1) & -to;
}

taddr_t x86_stack_argument(struct argument_cursor *cursor, taddr_t base,
			   uint64_t size, uint64_t align, unsigned word)
{
	taddr_t address;

	/* What the types say is hostile: it need not be a power of two. */
	if (align < word || align & (align - 1))
		align = word;
	address = base + round_up(cursor->stack - base, align);
	cursor->stack = address + round_up(size, word);
	return address;
}

int x86_st_get(const struct fp_regs *fp, unsigned number, uint8_t ret[16])
{
	if (!fp)
		return -ENODATA;
	memset(ret, 0, 16);
	memcpy(ret, (const uint8_t *)fp->user.st_space + 16 * number, 10);
	return 0;
}

int x86_xmm_get(const struct fp_regs *fp, unsigned number, unsigned half,
		uint8_t ret[8])
{
	if (!fp)
		return -ENODATA;
	memcpy(ret,
	       (const uint8_t *)fp->user.xmm_space + 16 * number + 8 * half, 8);
	return 0;
}
