/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps itself through calls of f1 by the processor's trap flag, and says how
 * many steps there were and where they led.
 */

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

long f1(long i);

#ifdef __x86_64__
#define IP   REG_RIP
#define STEP "pushfq; orq $0x100, (%rsp); popfq"
#define REST "pushfq; andq $~0x100, (%rsp); popfq"
#else
#define IP   REG_EIP
#define STEP "pushfl; orl $0x100, (%esp); popfl"
#define REST "pushfl; andl $~0x100, (%esp); popfl"
#endif

static volatile unsigned long steps, places, others;

static void on_step(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *ucontext = context;

	(void)signal;
	if (info->si_code != TRAP_TRACE)
		others++;
	steps++;
	/* Pages lie elsewhere each time. */
	places = places * 31 +
		 (ucontext->uc_mcontext.gregs[IP] & 0xfff);
}

static long stepped_call(long i)
{
	long result;

	__asm__ volatile(STEP);
	result = f1(i);
	__asm__ volatile(REST);
	return result;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_step,
				    .sa_flags = SA_SIGINFO };
	long wrong = f1(0) != 1;

	sigaction(SIGTRAP, &action, NULL);
	for (long i = 0; i < 20; i++)
		wrong += stepped_call(i) != i + 1;
	printf("count MAIN f1 21\nsteps %lu places %#lx others %lu\n", steps,
	       places, others);
	return wrong ? 1 : 7;
}
