/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

#include <elf.h>

#include "sysdeps/i386/plt.h"
#include "sysdeps/x86/insn.h"
#include "sysdeps/x86/registers.h"

enum { WORD = 4 };

static taddr_t ip(const struct regs *regs)
{
	return (uint32_t)regs->user.rip;
}

static void set_ip(struct regs *regs, taddr_t value)
{
	regs->user.rip = (uint32_t)value;
}

static taddr_t sp(const struct regs *regs)
{
	return (uint32_t)regs->user.rsp;
}

static int decode(taddr_t address, const uint8_t *code, size_t n,
		  struct insn *ret)
{
	return x86_insn_decode(WORD, address, code, n, ret);
}

static int emulate(const struct insn *insn, struct regs *regs,
		   struct memory *memory)
{
	return x86_insn_emulate(WORD, insn, regs, memory);
}

static int relocate(const struct insn *insn, taddr_t to,
		    uint8_t ret[INSN_COPY_MAX],
		    int8_t resume_ret[INSN_COPY_MAX])
{
	return x86_insn_relocate(WORD, insn, to, ret, resume_ret);
}

/* All on the stack, behind the return address. */
static int argument(const struct regs *entry, struct memory *memory,
		    unsigned index, uint64_t *ret)
{
	taddr_t address = sp(entry) + WORD + (taddr_t)WORD * index;

	return memory_read_word(memory, (uint32_t)address, WORD, ret);
}

static uint64_t result(const struct regs *regs)
{
	/* A 64-bit one is in edx:eax; who wants less takes the low part. */
	return (uint32_t)regs->user.rax | regs->user.rdx << 32;
}

const struct arch_ops arch_i386 = {
	.name = "i386",
	.elf_machine = EM_386,
	.elf_class = ELFCLASS32,
	.word_size = WORD,
	.trap_byte = 0xcc,
	.ip = ip,
	.set_ip = set_ip,
	.sp = sp,
	.return_slot = sp,
	.insn_decode = decode,
	.insn_emulate = emulate,
	.insn_relocate = relocate,
	.plt_stub = i386_plt_stub,
	.slot_jump_byte = 0xff,
	.slot_jump = i386_slot_jump,
	.slot_called = i386_slot_called,
	.argument = argument,
	.result = result,
};
