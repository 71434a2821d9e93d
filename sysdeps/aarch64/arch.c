/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/arch.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <sys/syscall.h>

#include "sysdeps/aarch64/convention.h"
#include "sysdeps/aarch64/dwarf.h"
#include "sysdeps/aarch64/insn.h"
#include "sysdeps/aarch64/plt.h"
#include "sysdeps/aarch64/registers.h"
#include "sysdeps/aarch64/syscall_names.h"

enum { WORD = 8, ARGUMENTS = 8, GOROUTINE = 28 };

#define BRK 0xd4200000u /* brk #0 */

/* Any bit would do. */
#define ANY_TAG (UINT64_C(1) << 56)

static taddr_t ip(const struct regs *regs)
{
	return regs->user.pc & ~AARCH64_TAG;
}

static taddr_t sp(const struct regs *regs)
{
	return regs->user.sp;
}

static taddr_t thread_pointer(const struct regs *regs)
{
	return regs->thread;
}

/*
 * glibc, sysdeps/aarch64/dl-tlsdesc.S, _dl_tlsdesc_return; musl has the same. The
 * descriptor is what the function is called with.
 */
static bool tls_finds_place(struct memory *memory, taddr_t function)
{
	enum { LDR_X0_X0_8 = 0xf9400400, RET = 0xd65f03c0 };
	uint32_t words[3];
	const uint32_t *word = words;

	if (memory_read(memory, function, words, sizeof(words)))
		return false;
	if ((*word & 0xfffff01f) == 0xd503201f) /* nop, bti c */
		word++;
	return word[0] == LDR_X0_X0_8 && word[1] == RET;
}

/* Programs have no such flag here. */
static bool steps_itself(const struct regs *regs UNUSED)
{
	return false;
}

/* Any number in it raises the same signal. */
static bool is_behind_trap(struct memory *memory, taddr_t ip)
{
	uint32_t word;

	if (memory_read(memory, ip, &word, sizeof(word)))
		return true;
	return (word & 0xffe0001f) == BRK;
}

static void make_again(struct regs *regs)
{
	regs->user.regs[0] = regs->restart;
	regs->user.pc -= 4; /* svc */
	regs->interrupted = false;
}

/*
 * Those that signal(7) lists as interrupted by any stop, and that didn't begin
 * anything (as connect has).
 */
static bool restart_wait(struct regs *regs)
{
	static const uint16_t calls[] = {
		SYS_read,          SYS_readv,           SYS_write,
		SYS_writev,        SYS_recvfrom,        SYS_recvmsg,
		SYS_recvmmsg,      SYS_sendto,          SYS_sendmsg,
		SYS_sendmmsg,      SYS_accept,          SYS_accept4,
		SYS_epoll_pwait,   SYS_epoll_pwait2,    SYS_semop,
		SYS_semtimedop,    SYS_rt_sigtimedwait, SYS_io_getevents,
		SYS_io_pgetevents,
	};

	if (!regs->interrupted || (int64_t)regs->user.regs[0] != -EINTR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (regs->user.regs[AARCH64_NUMBER] != calls[i])
			continue;
		make_again(regs);
		return true;
	}
	return false;
}

/*
 * At the call's end (-S) its result tells. In a stop that has ended it, the task
 * stands before its svc already, and the kernel makes restart_syscall(2) of the
 * call when it still stands just there after the stop (do_signal(),
 * arch/arm64/kernel/signal.c). The same place with a tag is another, and is the
 * same when the task goes on; whose call was none of these stands there as well.
 */
static bool wait_from_start(struct regs *regs)
{
	switch (regs->user.regs[AARCH64_NUMBER]) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_futex:
		break;
	default:
		return false;
	}
	if (!regs->interrupted)
		regs->user.pc |= ANY_TAG;
	else if ((int64_t)regs->user.regs[0] == -AARCH64_RESTARTBLOCK)
		make_again(regs);
	else
		return false;
	return true;
}

/* Nothing lies there: see pairing. */
static taddr_t return_slot(const struct regs *regs)
{
	return regs->user.sp - WORD;
}

static int return_address(const struct regs *regs, struct memory *memory UNUSED,
			  taddr_t *ret)
{
	*ret = aarch64_unsigned(regs->user.regs[AARCH64_LINK]);
	return 0;
}

static taddr_t stacked_argument(const struct regs *entry, unsigned index)
{
	return entry->user.sp + (taddr_t)WORD * (index - ARGUMENTS);
}

static int argument(const struct regs *entry, struct memory *memory,
		    unsigned index, uint64_t *ret)
{
	if (index >= ARGUMENTS)
		return memory_read_word(memory, stacked_argument(entry, index),
					WORD, ret);
	*ret = entry->user.regs[index];
	return 0;
}

static int set_argument(struct regs *entry, struct memory *memory,
			unsigned index, uint64_t value)
{
	if (index >= ARGUMENTS)
		return memory_write(memory, stacked_argument(entry, index),
				    &value, WORD);
	entry->user.regs[index] = value;
	return 0;
}

static uint64_t result(const struct regs *regs)
{
	return regs->user.regs[0];
}

static const char *syscall_name(uint64_t number)
{
	return number < aarch64_syscall_names_count ?
		       aarch64_syscall_names[number] :
		       NULL;
}

static void syscall_set_result(struct regs *regs, int64_t result)
{
	regs->user.regs[0] = (uint64_t)result;
}

static enum child_call child_call(uint64_t number)
{
	switch (number) {
	case SYS_clone:
		return CHILD_CALL_CLONE;
	case SYS_clone3:
		return CHILD_CALL_CLONE3;
	default:
		return CHILD_CALL_NONE;
	}
}

/*
 * The word that both C libraries keep the stack pointer in. glibc mixes it
 * (sysdeps/aarch64/jmpbuf-offsets.h, setjmp.S) with a variable of the dynamic
 * linker's, which is the second half of the kernel's random bytes
 * (_dl_setup_pointer_guard); musl has it as it is.
 */
static size_t jump_targets(const struct regs *entry, struct memory *memory,
			   taddr_t random, taddr_t ret[JUMP_TARGETS_MAX])
{
	const taddr_t buffer = entry->user.regs[0];
	uint64_t guard;

	if (memory_read_word(memory, buffer + 13 * WORD, WORD, &ret[0]))
		return 0;
	if (!random || memory_read_word(memory, random + WORD, WORD, &guard))
		return 1;
	ret[1] = ret[0] ^ guard;
	return 2;
}

/* Go internal ABI, "arm64 architecture". */
static uint64_t goroutine(const struct regs *regs)
{
	return regs->user.regs[GOROUTINE];
}

const struct arch_ops arch_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.audit = AUDIT_ARCH_AARCH64,
	.word_size = WORD,
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.irelative = R_AARCH64_IRELATIVE,
	.tls_module = R_AARCH64_TLS_DTPMOD,
	.tls_place = R_AARCH64_TLS_TPREL,
	.tls_descriptor = R_AARCH64_TLSDESC,
	.trap = BRK,
	.trap_size = 4,
	.trap_behind = 0,
	.trap_code = TRAP_BRKPT,
	.is_behind_trap = is_behind_trap,
	.ip = ip,
	.set_ip = aarch64_go,
	.sp = sp,
	.steps_itself = steps_itself,
	.thread_pointer = thread_pointer,
	.thread_vector = 0,
	.thread_head = 2 * WORD,
	.tls_finds_place = tls_finds_place,
	.jump_targets = jump_targets,
	.goroutine = goroutine,
	.restart_wait = restart_wait,
	.wait_from_start = wait_from_start,
	.return_slot = return_slot,
	.returns_by_register = true,
	.return_address = return_address,
	.insn_decode = aarch64_insn_decode,
	.insn_emulate = aarch64_insn_emulate,
	.insn_relocate = aarch64_insn_relocate,
	.plt_stub = aarch64_plt_stub,
	.slot_jump_byte = 0xd6, /* of br */
	.slot_jump_byte_at = 3,
	.slot_jump = aarch64_slot_jump,
	.slot_called = aarch64_slot_called,
	.argument = argument,
	.set_argument = set_argument,
	.result = result,
	.dwarf = &aarch64_dwarf,
	.convention = &aarch64_convention,
	.syscall_convention = &aarch64_syscall_convention,
	.syscall_number = aarch64_syscall_number,
	.syscalls = "syscalls",
	.syscall_name = syscall_name,
	.syscall_set_result = syscall_set_result,
	.child_call = child_call,
};
