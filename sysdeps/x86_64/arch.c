/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <sys/syscall.h>

#include "sysdeps/x86/insn.h"
#include "sysdeps/x86/jump.h"
#include "sysdeps/x86/registers.h"
#include "sysdeps/x86/syscall.h"
#include "sysdeps/x86/trap.h"
#include "sysdeps/x86_64/convention.h"
#include "sysdeps/x86_64/dwarf.h"
#include "sysdeps/x86_64/plt.h"
#include "sysdeps/x86_64/slot_use.h"
#include "sysdeps/x86_64/syscall_names.h"

enum { WORD = 8 };

static taddr_t ip(const struct regs *regs)
{
	return regs->user.rip;
}

static void set_ip(struct regs *regs, taddr_t value)
{
	regs->user.rip = value;
}

static taddr_t sp(const struct regs *regs)
{
	return regs->user.rsp;
}

static taddr_t thread_pointer(const struct regs *regs)
{
	return regs->user.fs_base;
}

/*
 * Those that signal(7) lists as interrupted by any stop, and that didn't begin
 * anything (as connect has).
 */
static bool restart_wait(struct regs *regs)
{
	static const uint16_t calls[] = {
		SYS_read,         SYS_readv,         SYS_write,
		SYS_writev,       SYS_recvfrom,      SYS_recvmsg,
		SYS_recvmmsg,     SYS_sendto,        SYS_sendmsg,
		SYS_sendmmsg,     SYS_accept,        SYS_accept4,
		SYS_epoll_wait,   SYS_epoll_pwait,   SYS_epoll_pwait2,
		SYS_semop,        SYS_semtimedop,    SYS_rt_sigtimedwait,
		SYS_io_getevents, SYS_io_pgetevents,
	};
	size_t i;

	if ((int64_t)regs->user.rax != -EINTR)
		return false;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (regs->user.orig_rax == calls[i])
			break;
	if (i == ARRAY_SIZE(calls))
		return false;
	regs->user.rax = regs->user.orig_rax;
	regs->user.rip -= 2; /* syscall */
	return true;
}

static bool wait_from_start(struct regs *regs)
{
	static const uint16_t calls[] = { SYS_poll, SYS_nanosleep, SYS_futex,
					  SYS_clock_nanosleep };

	return x86_syscall_wait_from_start(regs, calls, ARRAY_SIZE(calls));
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

/* System V ABI, AMD64 supplement, 3.2.3: six in registers, then the stack. */
static const int8_t argument_registers[] = { X86_RDI, X86_RSI, X86_RDX,
					     X86_RCX, 8,       9 };

static taddr_t stacked_argument(const struct regs *entry, unsigned index)
{
	unsigned stacked = index - ARRAY_SIZE(argument_registers);

	return entry->user.rsp + WORD + (taddr_t)WORD * stacked;
}

static int argument(const struct regs *entry, struct memory *memory,
		    unsigned index, uint64_t *ret)
{
	if (index >= ARRAY_SIZE(argument_registers))
		return memory_read_word(memory, stacked_argument(entry, index),
					WORD, ret);
	*ret = x86_register_get(entry, argument_registers[index], WORD);
	return 0;
}

static int set_argument(struct regs *entry, struct memory *memory,
			unsigned index, uint64_t value)
{
	if (index >= ARRAY_SIZE(argument_registers))
		return memory_write(memory, stacked_argument(entry, index),
				    &value, WORD);
	x86_register_set(entry, argument_registers[index], WORD, value);
	return 0;
}

static uint64_t result(const struct regs *regs)
{
	return regs->user.rax;
}

/* x32 has numbers of its own from 512 on, all marked by bit 30. */
#define X32_BIT (1u << 30)

static const char *syscall_name(uint64_t number)
{
	if (number & X32_BIT && (number & ~(uint64_t)X32_BIT) < 512)
		number &= ~(uint64_t)X32_BIT;
	return number < x86_64_syscall_names_count ?
		       x86_64_syscall_names[number] :
		       NULL;
}

/*
 * glibc xors the stack pointer with a word of the thread's and rotates it
 * left (sysdeps/x86_64/jmpbuf-offsets.h, sysdep.h). musl has it at the same
 * place, as it is.
 */
static size_t jump_targets(const struct regs *entry, struct memory *memory,
			   taddr_t random UNUSED, taddr_t ret[JUMP_TARGETS_MAX])
{
	static const struct x86_jump jump = { WORD, 6, 0x30, 17 };
	uint64_t buffer;

	if (argument(entry, memory, 0, &buffer))
		return 0;
	return x86_jump_targets(&jump, memory, buffer, thread_pointer(entry),
				ret);
}

/* Go internal ABI, "amd64 architecture". */
static uint64_t goroutine(const struct regs *regs)
{
	return regs->user.r14;
}

static int return_address(const struct regs *regs, struct memory *memory,
			  taddr_t *ret)
{
	return memory_read_word(memory, sp(regs), WORD, ret);
}

static enum child_call child_call(uint64_t number)
{
	switch (number) {
	case 56:
		return CHILD_CALL_CLONE;
	case 57:
		return CHILD_CALL_FORK;
	case 58:
		return CHILD_CALL_VFORK;
	case 435:
		return CHILD_CALL_CLONE3;
	default:
		return CHILD_CALL_NONE;
	}
}

const struct arch_ops arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.audit = AUDIT_ARCH_X86_64,
	.word_size = WORD,
	.jump_slot = R_X86_64_JUMP_SLOT,
	.glob_dat = R_X86_64_GLOB_DAT,
	.irelative = R_X86_64_IRELATIVE,
	.tls_module = R_X86_64_DTPMOD64,
	.tls_place = R_X86_64_TPOFF64,
	.trap = X86_INT3,
	.trap_size = 1,
	.trap_behind = 1,
	.trap_code = SI_KERNEL,
	.is_behind_trap = x86_is_behind_int3,
	.ip = ip,
	.set_ip = set_ip,
	.sp = sp,
	.steps_itself = x86_steps_itself,
	.thread_pointer = thread_pointer,
	.thread_vector = 8,
	.jump_targets = jump_targets,
	.goroutine = goroutine,
	.go_leaves_fp = true,
	.restart_wait = restart_wait,
	.wait_from_start = wait_from_start,
	.return_slot = sp,
	.return_address = return_address,
	.insn_decode = decode,
	.insn_emulate = emulate,
	.insn_relocate = relocate,
	.plt_stub = x86_64_plt_stub,
	.slot_jump_byte = 0xff,
	.slot_jump = x86_64_slot_jump,
	.next_slot_use = x86_64_next_slot_use,
	.slot_called = x86_64_slot_called,
	.argument = argument,
	.set_argument = set_argument,
	.result = result,
	.dwarf = &x86_64_dwarf,
	.convention = &x86_64_convention,
	.syscall_convention = &x86_64_syscall_convention,
	.syscall_number = x86_64_syscall_number,
	.syscalls = "syscalls",
	.syscall_name = syscall_name,
	.syscall_set_result = x86_syscall_set_result,
	.child_call = child_call,
};
