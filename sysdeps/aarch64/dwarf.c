/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/aarch64/dwarf.h"

#include <string.h>

#include "sysdeps/aarch64/bits.h"
#include "sysdeps/aarch64/registers.h"

/*
 * DWARF for the Arm 64-bit Architecture, 4.1; the tables have no pc, which is
 * libunwind's number.
 */
enum {
	SP = 31,
	PC = 32,
	COUNT,
};

static void registers(const struct regs *regs,
		      uint64_t ret[DWARF_REGISTERS_MAX])
{
	memcpy(ret, regs->user.regs, sizeof(regs->user.regs));
	ret[SP] = regs->user.sp;
	ret[PC] = regs->user.pc & ~AARCH64_TAG;
}

/*
 * Signatures take the bits that no address of a program has, and how many
 * these are the kernel decides for all processes: so the processor, which
 * does it right for us, does it right for everybody. (xpaclri; where there are
 * no signatures, a nop.)
 */
taddr_t aarch64_unsigned(taddr_t address)
{
	register uint64_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link));
	return link;
}

static bool ends_in_call(const uint8_t *code, size_t size)
{
	uint32_t word;

	if (size < sizeof(word))
		return false;
	memcpy(&word, code + size - sizeof(word), sizeof(word));
	return (word & 0xfc000000) == 0x94000000 ||                 /* bl */
	       is_blr(word) || (word & 0xfffff81f) == 0xd63f081f || /* blraaz */
	       (word & 0xfffff800) == 0xd73f0800;                   /* blraa */
}

/*
 * The stack pointer is at struct rt_sigframe: siginfo_t of 128 bytes, and the
 * ucontext, 176 bytes into which is struct sigcontext, whose registers come
 * behind the fault's address (asm/ucontext.h, asm/sigcontext.h).
 */
static bool is_signal_return(const uint8_t *code,
			     int32_t offsets_ret[DWARF_REGISTERS_MAX])
{
	/* mov x8, #139; svc #0 */
	static const uint32_t words[] = { 0xd2801168, 0xd4000001 };

	if (memcmp(code, words, sizeof(words)))
		return false;
	for (int i = 0; i < COUNT; i++)
		offsets_ret[i] = 128 + 176 + 8 + 8 * i;
	return true;
}

const struct dwarf_arch aarch64_dwarf = {
	.count = COUNT,
	.sp = SP,
	.fp = AARCH64_FP,
	.ip = PC,
	.return_address = AARCH64_LINK,
	.unsigned_address = aarch64_unsigned,
	.signs_addresses = true,
	.registers = registers,
	.ends_in_call = ends_in_call,
	.is_signal_return = is_signal_return,
};
