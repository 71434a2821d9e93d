/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PTRACE_H
#define CALLTRAP_PTRACE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sysdeps/arch.h"

/*
 * Typed ptrace(2) requests. All return 0 or a negative errno; -ERR_GONE when
 * the task has died or isn't stopped (the kernel says ESRCH for both).
 */
int ptrace_seize(pid_t tid, unsigned long options) MUST_CHECK;
int ptrace_set_options(pid_t tid, unsigned long options);
int ptrace_interrupt(pid_t tid);
int ptrace_continue(pid_t tid, int signal);
int ptrace_step(pid_t tid, int signal);
int ptrace_listen(pid_t tid);
int ptrace_detach(pid_t tid, int signal);
int ptrace_get_regs(pid_t tid, struct regs *ret) MUST_CHECK;
int ptrace_set_regs(pid_t tid, const struct regs *regs) MUST_CHECK;

/*
 * Writes code of a stopped task, without a descriptor; size bytes at an
 * address, both multiples of 8.
 */
int ptrace_write_code(pid_t tid, uint64_t address, const void *bytes,
		      size_t size) MUST_CHECK;
int ptrace_get_fp_regs(pid_t tid, struct fp_regs *ret) MUST_CHECK;

/* The instruction pointer alone, for a third of the price. */
int ptrace_set_ip(pid_t tid, taddr_t ip) MUST_CHECK;
int ptrace_get_siginfo(pid_t tid, siginfo_t *ret) MUST_CHECK;

/* What the signal says that the stopped task goes on with. */
int ptrace_set_siginfo(pid_t tid, const siginfo_t *info) MUST_CHECK;
int ptrace_get_event_message(pid_t tid, unsigned long *ret) MUST_CHECK;

/* The mask of blocked signals: bit N - 1 is signal N. */
int ptrace_get_signal_mask(pid_t tid, uint64_t *ret) MUST_CHECK;
int ptrace_set_signal_mask(pid_t tid, uint64_t mask);

/*
 * Whether the kernel has queued a SIGTRAP for an int3 that the stopped task
 * has run but not yet reported: an interrupt stop is taken before signals
 * (get_signal(), kernel/signal.c).
 */
bool ptrace_has_queued_trap(pid_t tid);

/* The entry or the end of a system call. */
struct syscall_stop {
	bool entered; /* else it returns */
	/*
	 * Whose call it is, which the segments don't tell: 64-bit programs may
	 * make i386 calls.
	 */
	const struct arch_ops *arch;
	taddr_t ip;      /* behind the instruction */
	uint64_t number; /* when entered */
	int64_t result;  /* when it returns */
	bool failed;     /* … and result is a negative errno */
};

/*
 * Which of them a stopped task is at (PTRACE_O_TRACESYSGOOD was set when it
 * was resumed by ptrace_run_to_syscall()). -ENODATA when it is at neither, or
 * calltrap has no port to whose it is; -EIO before Linux 5.3.
 */
int ptrace_get_syscall(pid_t tid, struct syscall_stop *ret) MUST_CHECK;

/* Goes on until the next system call, its entry or its end. */
int ptrace_run_to_syscall(pid_t tid, int signal);

#endif
