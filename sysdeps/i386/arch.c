/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>

#include "sysdeps/i386/convention.h"
#include "sysdeps/i386/dwarf.h"
#include "sysdeps/i386/plt.h"
#include "sysdeps/i386/syscall_names.h"
#include "sysdeps/x86/insn.h"
#include "sysdeps/x86/jump.h"
#include "sysdeps/x86/registers.h"
#include "sysdeps/x86/syscall.h"
#include "sysdeps/x86/trap.h"

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

static taddr_t thread_pointer(const struct regs *regs)
{
	return (uint32_t)regs->user.gs_base;
}

/* As in x86_64; the numbers are those of asm/unistd_32.h. */
static bool may_restart(const struct regs *regs)
{
	enum { SOCKETCALL = 102, IPC = 117, CONNECT = 3 };
	static const uint16_t calls[] = {
		3 /* read */,
		145 /* readv */,
		4 /* write */,
		146 /* writev */,
		371 /* recvfrom */,
		372 /* recvmsg */,
		337 /* recvmmsg */,
		417 /* recvmmsg_time64 */,
		369 /* sendto */,
		370 /* sendmsg */,
		345 /* sendmmsg */,
		364 /* accept4 */,
		256 /* epoll_wait */,
		319 /* epoll_pwait */,
		441 /* epoll_pwait2 */,
		420 /* semtimedop_time64 */,
		177 /* rt_sigtimedwait */,
		421 /* rt_sigtimedwait_time64 */,
		247 /* io_getevents */,
		385 /* io_pgetevents */,
		416 /* io_pgetevents_time64 */,
	};
	uint32_t call = regs->user.orig_rax;
	size_t i;

	if (call == SOCKETCALL)
		return (uint32_t)regs->user.rbx != CONNECT;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (call == calls[i])
			return true;
	return call == IPC;
}

static bool restart_wait(struct regs *regs)
{
	if ((int32_t)regs->user.rax != -EINTR || !may_restart(regs))
		return false;
	regs->user.rax = regs->user.orig_rax;
	regs->user.rip -= 2; /* int 0x80: also where sysenter comes back */
	return true;
}

static bool wait_from_start(struct regs *regs)
{
	static const uint16_t calls[] = {
		162 /* nanosleep */,
		168 /* poll */,
		240 /* futex */,
		267 /* clock_nanosleep */,
		407 /* clock_nanosleep_time64 */,
		422 /* futex_time64 */,
	};

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

/* All on the stack, behind the return address. */
static int argument(const struct regs *entry, struct memory *memory,
		    unsigned index, uint64_t *ret)
{
	taddr_t address = sp(entry) + WORD + (taddr_t)WORD * index;

	return memory_read_word(memory, (uint32_t)address, WORD, ret);
}

static int set_argument(struct regs *entry, struct memory *memory,
			unsigned index, uint64_t value)
{
	taddr_t address = sp(entry) + WORD + (taddr_t)WORD * index;
	uint32_t word = value;

	return memory_write(memory, (uint32_t)address, &word, WORD);
}

static uint64_t result(const struct regs *regs)
{
	/* A 64-bit one is in edx:eax; who wants less takes the low part. */
	return (uint32_t)regs->user.rax | regs->user.rdx << 32;
}

static const char *syscall_name(uint64_t number)
{
	return number < i386_syscall_names_count ? i386_syscall_names[number] :
						   NULL;
}

/*
 * glibc xors the stack pointer with a word of the thread's and rotates it
 * left (sysdeps/i386/jmpbuf-offsets.h, sysdep.h). musl has it at the same
 * place, as it is.
 */
static size_t jump_targets(const struct regs *entry, struct memory *memory,
			   taddr_t random UNUSED, taddr_t ret[JUMP_TARGETS_MAX])
{
	static const struct x86_jump jump = { WORD, 4, 0x18, 9 };
	uint64_t buffer;

	if (argument(entry, memory, 0, &buffer))
		return 0;
	return x86_jump_targets(&jump, memory, buffer, thread_pointer(entry),
				ret);
}

static int return_address(const struct regs *regs, struct memory *memory,
			  taddr_t *ret)
{
	return memory_read_word(memory, sp(regs), WORD, ret);
}

static enum child_call child_call(uint64_t number)
{
	switch (number) {
	case 2:
		return CHILD_CALL_FORK;
	case 120:
		return CHILD_CALL_CLONE;
	case 190:
		return CHILD_CALL_VFORK;
	case 435:
		return CHILD_CALL_CLONE3;
	default:
		return CHILD_CALL_NONE;
	}
}

const struct arch_ops arch_i386 = {
	.name = "i386",
	.elf_machine = EM_386,
	.elf_class = ELFCLASS32,
	.audit = AUDIT_ARCH_I386,
	.word_size = WORD,
	.jump_slot = R_386_JMP_SLOT,
	.glob_dat = R_386_GLOB_DAT,
	.irelative = R_386_IRELATIVE,
	.tls_module = R_386_TLS_DTPMOD32,
	.tls_place = R_386_TLS_TPOFF,
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
	.thread_vector = 4,
	.jump_targets = jump_targets,
	.restart_wait = restart_wait,
	.wait_from_start = wait_from_start,
	.return_slot = sp,
	.return_address = return_address,
	.insn_decode = decode,
	.insn_emulate = emulate,
	.insn_relocate = relocate,
	.plt_stub = i386_plt_stub,
	.slot_jump_byte = 0xff,
	.slot_jump = i386_slot_jump,
	.slot_called = i386_slot_called,
	.argument = argument,
	.set_argument = set_argument,
	.result = result,
	.dwarf = &i386_dwarf,
	.convention = &i386_convention,
	.syscall_convention = &i386_syscall_convention,
	.syscall_number = i386_syscall_number,
	.syscalls = "syscalls-i386",
	.syscall_name = syscall_name,
	.syscall_set_result = x86_syscall_set_result,
	.child_call = child_call,
};
