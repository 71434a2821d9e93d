/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that use SIGTRAP themselves.
 * handle: a handler for its own trap instructions. ignore: SIGTRAP ignored.
 * block: SIGTRAP blocked. Each calls f1 1000 times meanwhile; the last two say
 * whether SIGTRAP is still as they made it.
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

long f1(long i);

static volatile int traps;

#ifdef __aarch64__
#define TRAP "brk #7"
#else
#define TRAP "int3"
#endif

/* Who has run into a brk still stands there. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
#ifdef __aarch64__
	if (info->si_code == TRAP_BRKPT)
		((ucontext_t *)context)->uc_mcontext.pc += 4;
#endif
	(void)signal;
	(void)info;
	(void)context;
	traps++;
}

static long calls(int with_traps)
{
	long wrong = 0;

	for (long i = 0; i < 1000; i++) {
		wrong += f1(i) != i + 1;
		if (with_traps && i % 10 == 0)
			__asm__ volatile(TRAP);
		if (with_traps && i % 10 == 5)
			raise(SIGTRAP);
	}
	return wrong;
}

static long handle(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	long wrong;

	action.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &action, NULL);
	wrong = calls(1);
	return wrong + (traps != 200);
}

static long ignore(void)
{
	struct sigaction action;
	long wrong;

	signal(SIGTRAP, SIG_IGN);
	wrong = calls(0);
	sigaction(SIGTRAP, NULL, &action);
	printf("ignored: %s\n", action.sa_handler == SIG_IGN ? "yes" : "no");
	return wrong;
}

static long block(void)
{
	sigset_t set, old;
	long wrong;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	wrong = calls(0);
	sigprocmask(SIG_BLOCK, NULL, &old);
	printf("blocked: %s\n", sigismember(&old, SIGTRAP) ? "yes" : "no");
	return wrong;
}

int main(int argc, char **argv)
{
	long wrong;

	if (argc > 1 && !strcmp(argv[1], "ignore"))
		wrong = ignore();
	else if (argc > 1 && !strcmp(argv[1], "block"))
		wrong = block();
	else
		wrong = handle();
	puts("count MAIN f1 1000");
	return wrong ? 1 : 7;
}
