/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/ptrace.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ptrace.h>

static int answer(int err)
{
	return err == -ESRCH ? -ERR_GONE : err;
}

static int request(int what, pid_t tid, unsigned long address, const void *data)
{
	return answer(ptrace(what, tid, address, data) < 0 ? -errno : 0);
}

static const void *number(unsigned long n)
{
	return (const void *)n;
}

int ptrace_seize(pid_t tid, unsigned long options)
{
	return request(PTRACE_SEIZE, tid, 0, number(options));
}

int ptrace_set_options(pid_t tid, unsigned long options)
{
	return request(PTRACE_SETOPTIONS, tid, 0, number(options));
}

int ptrace_interrupt(pid_t tid)
{
	return request(PTRACE_INTERRUPT, tid, 0, NULL);
}

int ptrace_continue(pid_t tid, int signal)
{
	return request(PTRACE_CONT, tid, 0, number(signal));
}

int ptrace_step(pid_t tid, int signal)
{
	return request(PTRACE_SINGLESTEP, tid, 0, number(signal));
}

int ptrace_listen(pid_t tid)
{
	return request(PTRACE_LISTEN, tid, 0, NULL);
}

int ptrace_detach(pid_t tid, int signal)
{
	return request(PTRACE_DETACH, tid, 0, number(signal));
}

int ptrace_write_code(pid_t tid, uint64_t address, const void *bytes,
		      size_t size)
{
	const char *p = bytes;
	int err = 0;

	for (; size && !err; size -= sizeof(long)) {
		unsigned long word;

		memcpy(&word, p, sizeof(word));
		err = request(PTRACE_POKETEXT, tid, address, number(word));
		p += sizeof(word);
		address += sizeof(word);
	}
	return err;
}

int ptrace_get_regs(pid_t tid, struct regs *ret)
{
	return answer(arch_peek_regs(tid, ret));
}

int ptrace_set_regs(pid_t tid, const struct regs *regs)
{
	return answer(arch_poke_regs(tid, regs));
}

int ptrace_get_fp_regs(pid_t tid, struct fp_regs *ret)
{
	return answer(arch_peek_fp_regs(tid, ret));
}

int ptrace_set_ip(pid_t tid, taddr_t ip)
{
	return answer(arch_poke_ip(tid, ip));
}

int ptrace_get_siginfo(pid_t tid, siginfo_t *ret)
{
	return request(PTRACE_GETSIGINFO, tid, 0, ret);
}

int ptrace_set_siginfo(pid_t tid, const siginfo_t *info)
{
	siginfo_t copy = *info;

	return request(PTRACE_SETSIGINFO, tid, 0, &copy);
}

int ptrace_get_event_message(pid_t tid, unsigned long *ret)
{
	return request(PTRACE_GETEVENTMSG, tid, 0, ret);
}

int ptrace_get_signal_mask(pid_t tid, uint64_t *ret)
{
	return request(PTRACE_GETSIGMASK, tid, sizeof(*ret), ret);
}

int ptrace_set_signal_mask(pid_t tid, uint64_t mask)
{
	return request(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

bool ptrace_has_queued_trap(pid_t tid)
{
	struct __ptrace_peeksiginfo_args args = { .nr = 16 };
	siginfo_t queued[16];
	long n = ptrace(PTRACE_PEEKSIGINFO, tid, &args, queued);

	while (n-- > 0)
		if (queued[n].si_signo == SIGTRAP && queued[n].si_code > 0)
			return true;
	return false;
}

/* An audit architecture is an ELF machine, and bits for its class and order. */
static const struct arch_ops *arch_of_audit(uint32_t arch)
{
	return arch_of_elf(arch & 0xffff,
			   arch & __AUDIT_ARCH_64BIT ? ELFCLASS64 : ELFCLASS32);
}

int ptrace_get_syscall(pid_t tid, struct syscall_stop *ret)
{
	struct __ptrace_syscall_info info = { 0 };
	struct syscall_stop stop = { 0 };
	int err = request(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info);

	if (err)
		return err;
	stop.arch = arch_of_audit(info.arch);
	stop.ip = info.instruction_pointer;
	if (!stop.arch)
		return -ENODATA;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		stop.entered = true;
		stop.number = info.entry.nr;
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		stop.result = info.exit.rval;
		stop.failed = info.exit.is_error;
	} else {
		return -ENODATA;
	}
	*ret = stop;
	return 0;
}

int ptrace_run_to_syscall(pid_t tid, int signal)
{
	return request(PTRACE_SYSCALL, tid, 0, number(signal));
}
