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

#include "sysdeps/x86_64/agent/layout.h"
#include "sysdeps/x86_64/agent/system_call.h"

#define INT3    0xcc
#define INT     0xcd /* … and 3 */
#define TF_FLAG 0x100

/* So many pauses, and then milliseconds, for the guardian to lift the trap. */
#define PAUSES 4096
#define SLEEPS 2000

#define HIDDEN __attribute__((visibility("hidden")))
/* There is little room. */
#ifdef __clang__
#define COLD __attribute__((cold, minsize))
#else
#define COLD __attribute__((cold))
#endif

extern const char agent_net_return[] HIDDEN;
extern struct agent_kept agent_kept HIDDEN;
extern struct agent_shared agent_shared HIDDEN;

static COLD uint8_t byte_at(uint64_t address)
{
	return *(const volatile uint8_t *)address;
}

/* Who lives has taken away the signals of its own traps: this one is none. */
static COLD bool is_alive(uint64_t beat)
{
	return __atomic_load_n(&agent_shared.beat, __ATOMIC_ACQUIRE) != beat;
}

static COLD bool is_lifted(uint64_t address)
{
	return byte_at(address) != INT3;
}

/* No system call before it must be: a filter may have come since. */
static COLD bool await_lifting(uint64_t address)
{
	const struct __kernel_timespec moment = { .tv_nsec = 1000000 };
	const uint64_t beat =
		__atomic_load_n(&agent_shared.beat, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < PAUSES + SLEEPS; i++) {
		if (is_lifted(address))
			return true;
		if (!agent_kept.traps || is_alive(beat))
			return false;
		if (i < PAUSES)
			__builtin_ia32_pause();
		else
			system_call(__NR_nanosleep, (long)&moment, 0, 0, 0, 0,
				    0);
	}
	return false;
}

/* What nobody may handle here kills. */
static COLD void die(void)
{
	__asm__ volatile("int3");
}

_Static_assert(sizeof(struct sigaction) == sizeof(agent_kept.before) &&
		       offsetof(struct sigaction, sa_handler) == 0 &&
		       offsetof(struct sigaction, sa_flags) == 8,
	       "the kernel's");

static COLD long set_action(const void *new, void *old)
{
	return system_call(__NR_rt_sigaction, SIGTRAP, (long)new, (long)old,
			   sizeof(sigset_t), 0, 0);
}

/* The program does what it would. */
static COLD void stop_handling(void)
{
	if (set_action(agent_kept.before, NULL))
		die();
}

/* As if there were no handler of ours: it has what it is to know of it, too. */
static COLD void hand_on(siginfo_t *info)
{
	stop_handling();
	if (system_call(__NR_rt_tgsigqueueinfo,
			system_call(__NR_getpid, 0, 0, 0, 0, 0, 0),
			system_call(__NR_gettid, 0, 0, 0, 0, 0, 0), SIGTRAP,
			(long)info, 0, 0) &&
	    !agent_kept.before[0])
		die();
}

/* The program's own, in two bytes. (Of what stands at the begin of a page what lies
   before needn't be there.) */
static COLD bool is_long_int3(uint64_t next)
{
	return byte_at(next - 1) == 3 && (next - 1) % AGENT_PAGE_SIZE &&
	       byte_at(next - 2) == INT;
}

/*
 * It is run once more, whatever it is by now. What still is an int3 is the
 * program's own, or nobody is left to lift it: then the program handles it, or it
 * kills as it would have without us, also the first process of a container, and past
 * filters.
 */
static COLD void run_again(struct sigcontext *at)
{
	if (is_long_int3(at->rip)) {
		stop_handling();
		at->rip -= 2;
		return;
	}
	if (!await_lifting(at->rip - 1))
		stop_handling();
	at->rip--;
}

typedef void program_handler(int signal, siginfo_t *info, void *context);

/*
 * The program's own int3, as calltrap says, which goes on to be there: so this handler
 * goes on, too, and calls the program's as the kernel would.
 */
static COLD bool is_handled(int signal, siginfo_t *info,
			    const struct ucontext *context)
{
	const struct sigaction *own = (const void *)agent_kept.before;
	program_handler *handler = (program_handler *)agent_kept.before[0];
	sigset_t mask = context->uc_sigmask | own->sa_mask;

	if (info->si_code != SI_KERNEL || info->si_errno != AGENT_SEEN)
		return false;
	info->si_errno = 0;
	if (agent_kept.before[0] <= (uintptr_t)SIG_IGN ||
	    own->sa_flags & SA_RESETHAND)
		return false;
	if (!(own->sa_flags & SA_NODEFER))
		mask |= 1ul << (SIGTRAP - 1);
	system_call(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0,
		    sizeof(mask), 0, 0);
	handler(signal, info, (void *)context);
	return true;
}

/* A step without the flag was calltrap's. */
static COLD void on_trap(int signal, siginfo_t *info, struct ucontext *context)
{
	struct sigcontext *at = &context->uc_mcontext;

	if (is_handled(signal, info, context))
		return;
	if (info->si_code == TRAP_TRACE && !(at->eflags & TF_FLAG))
		return;
	if (info->si_code == SI_KERNEL)
		run_again(at);
	else
		hand_on(info);
}

/*
 * On the thread's own stack, or where the program's own would run: goroutines have
 * little. No other handler may hit a trap above it: as the signal is blocked then, the
 * kernel would take this one away. Who ignores the signal goes on doing so, as what it
 * runs will, too.
 * again: by a process that has none, and what the program had before is known.
 */
COLD void agent_net_spread(bool again)
{
	uintptr_t handler = (uintptr_t)on_trap;
	uintptr_t restorer = (uintptr_t)agent_net_return;
	unsigned i;
	struct sigaction net = { .sa_flags = SA_SIGINFO | SA_RESTORER,
				 .sa_mask = ~0ul };
	uint64_t old[4], first;

	/* No addresses in data: nobody relocates them. */
	__asm__("" : "+r"(handler), "+r"(restorer));
	net.sa_handler = (__sighandler_t)handler;
	net.sa_restorer = (__sigrestore_t)restorer;
	if (set_action(NULL, old) || old[0] == handler ||
	    old[0] == (uintptr_t)SIG_IGN)
		return;
	first = old[0];
	/* The kernel takes away the handler alone: what it stands for is known. */
	for (i = 0; i < 4 && !again && old[2] != restorer; i++)
		agent_kept.before[i] = old[i];
	net.sa_flags |= old[1] & SA_ONSTACK;
	/* The program may set one of its own at any time: that stays. */
	if (!set_action(&net, old) && old[0] != first)
		set_action(old, NULL);
}
