/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>

#include "sysdeps/arch.h"

static int answer(long result)
{
	return result < 0 ? -errno : 0;
}

int arch_peek_regs(pid_t tid, struct regs *ret)
{
	return answer(ptrace(PTRACE_GETREGS, tid, NULL, &ret->user));
}

int arch_poke_regs(pid_t tid, const struct regs *regs)
{
	return answer(ptrace(PTRACE_SETREGS, tid, NULL, &regs->user));
}

int arch_poke_ip(pid_t tid, taddr_t ip)
{
	return answer(ptrace(PTRACE_POKEUSER, tid,
			     offsetof(struct user_regs_struct, rip), ip));
}

int arch_peek_fp_regs(pid_t tid, struct fp_regs *ret)
{
	return answer(ptrace(PTRACE_GETFPREGS, tid, NULL, &ret->user));
}

taddr_t arch_untagged(taddr_t pointer)
{
	return pointer;
}
