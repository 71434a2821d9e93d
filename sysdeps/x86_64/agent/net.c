/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/net.h"

#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>
#include <asm/unistd_64.h>
#include <linux/time_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "sysdeps/x86_64/agent/system_call.h"

#define INT3    0xcc
#define TF_FLAG 0x100

/* So many pauses, and then milliseconds, for the guardian to lift the trap. */
#define PAUSES 4096
#define SLEEPS 2000

extern const char agent_net_return[] __attribute__((visibility("hidden")));

static bool is_lifted(uint64_t address)
{
	return *(const volatile uint8_t *)address != INT3;
}

/* No system call before it must be: a filter may have come since. */
static bool await_lifting(uint64_t address)
{
	const struct __kernel_timespec moment = { .tv_nsec = 1000000 };
	unsigned i;

	for (i = 0; i < PAUSES + SLEEPS; i++) {
		if (is_lifted(address))
			return true;
		if (i < PAUSES)
			__builtin_ia32_pause();
		else
			system_call(__NR_nanosleep, (long)&moment, 0, 0, 0, 0,
				    0);
	}
	return false;
}

/* As if there were no handler: it has what it is to know of it, too. */
static void let_die(siginfo_t *info)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };

	system_call(__NR_rt_sigaction, SIGTRAP, (long)&none, 0,
		    sizeof(none.sa_mask), 0, 0);
	system_call(__NR_rt_tgsigqueueinfo,
		    system_call(__NR_getpid, 0, 0, 0, 0, 0, 0),
		    system_call(__NR_gettid, 0, 0, 0, 0, 0, 0), SIGTRAP,
		    (long)info, 0, 0);
}

/*
 * What still is an int3 is the program's own, or nobody is left to lift it. A
 * step without the flag was calltrap's.
 */
static void on_trap(int signal, siginfo_t *info, struct ucontext *context)
{
	struct sigcontext *at = &context->uc_mcontext;

	(void)signal;
	if (info->si_code == TRAP_TRACE && !(at->eflags & TF_FLAG))
		return;
	if (info->si_code == SI_KERNEL && await_lifting(at->rip - 1))
		at->rip--;
	else
		let_die(info);
}

/* On the thread's own stack. No other handler may hit a trap above it: as the
   signal is blocked then, the kernel would take this one away. */
void agent_net_spread(void)
{
	const struct sigaction net = {
		.sa_handler = (__sighandler_t)(uintptr_t)on_trap,
		.sa_flags = SA_SIGINFO | SA_RESTORER,
		.sa_restorer = (__sigrestore_t)(uintptr_t)agent_net_return,
		.sa_mask = ~0ul,
	};
	struct sigaction old;

	if (!system_call(__NR_rt_sigaction, SIGTRAP, 0, (long)&old,
			 sizeof(old.sa_mask), 0, 0) &&
	    old.sa_handler == SIG_DFL)
		system_call(__NR_rt_sigaction, SIGTRAP, (long)&net, 0,
			    sizeof(net.sa_mask), 0, 0);
}
