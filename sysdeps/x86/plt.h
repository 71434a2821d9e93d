/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_PLT_H
#define CALLTRAP_X86_PLT_H

#include "sysdeps/arch.h"

/*
 * What the linkers write, in both modes (GNU ld, gold, lld, mold):
 *
 *	.plt      16  jmp *slot; push $n; jmp .plt       ld, gold, lld
 *	.plt.got   8  jmp *slot; xchg %ax,%ax            ld; static IRELATIVE
 *	.plt.sec  16  endbr; [bnd] jmp *slot; nopw       ld, lld
 *	.plt.bnd   8  bnd jmp *slot; nop                 old ld
 *	.plt      16  endbr; mov $n,%r11d; jmp *slot     mold (ecx in i386)
 *	.plt      16  mov $n,%r11d; jmp *slot; int3...   mold 2.37, no CET
 *	.plt.got  16  endbr; jmp *slot; int3...          mold
 *
 * The jump that a linker puts into .plt's head is none of these: it begins
 * at no multiple of 8, as most tail calls of ordinary code don't either.
 */
struct x86_plt_shape {
	const uint8_t *endbr; /* 4 bytes */
	const uint8_t *load;  /* mold's, up to its immediate */
	uint8_t load_size;    /* with the immediate */
	bool bare_load;       /* it may begin a stub without an endbr */
	uint8_t modrm[2];     /* of the jump */
};

struct x86_plt_jump {
	size_t start; /* of the stub */
	size_t end;   /* of the jump */
	uint8_t modrm;
	int32_t displacement; /* or address, as modrm says */
	bool loads;           /* the stub is one of mold's .plt */
	uint32_t index;       /* what it loads */
};

bool x86_plt_jump_find(const struct x86_plt_shape *shape, const uint8_t *code,
		       size_t size, size_t at, taddr_t address,
		       struct x86_plt_jump *ret);

#endif
