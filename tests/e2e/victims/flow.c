/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion, longjmp, tail calls, coroutines: as the argument says. */

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

long rec(long n);
void jumper(jmp_buf *where, long i);
long between(long (*callback)(long), long i);
long first(long i);
long second(long i);
long f1(long i);
long f2(long i);

static long wrong;
static jmp_buf where;

static void recursion(void)
{
	wrong += rec(10000) != 10000;
	for (int i = 0; i < 10; i++)
		wrong += f1(i) != i + 1;
	puts("count all rec 10001\ncount MAIN rec 1\ncount MAIN f1 10");
}

/* volatile: changed between setjmp and longjmp */
static void jumps(void)
{
	volatile long i, jumped = 0;

	for (i = 0; i < 1000; i++) {
		if (setjmp(where)) {
			jumped++;
			continue;
		}
		wrong += f1(i) != i + 1;
		jumper(&where, i);
	}
	wrong += jumped != 1000;
	printf("count MAIN jumper 1000\ncount MAIN f1 1000\n");
}

static long jump_out(long i)
{
	f2(i);
	longjmp(where, 1);
}

/* Past two traced frames at once, one of them another function. */
static void deep_jumps(void)
{
	volatile long i;

	for (i = 0; i < 1000; i++) {
		if (!setjmp(where))
			between(jump_out, i);
		wrong += f1(i) != i + 1;
	}
	puts("count MAIN between 1000\ncount MAIN f1 1000\n"
	     "count MAIN f2 1000");
}

static void tails(void)
{
	for (int i = 0; i < 100; i++)
		wrong += first(i) != i + 6;
	for (int i = 0; i < 50; i++)
		wrong += second(i) != i + 5;
	puts("count all first 100\ncount all second 150\n"
	     "count MAIN first 100\ncount MAIN second 50");
}

static ucontext_t home, coroutine[2];

static long yield(long i)
{
	swapcontext(&coroutine[i], &home);
	return i;
}

static void routine(int number)
{
	for (int i = 0; i < 100; i++) {
		wrong += between(yield, number) != number + 1;
		wrong += f1(i) != i + 1;
	}
}

/* Two coroutines whose calls of between are open at the same time. */
static void coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_size = 1 << 16;
		coroutine[i].uc_stack.ss_sp = malloc(1 << 16);
		coroutine[i].uc_link = &home;
		makecontext(&coroutine[i], (void (*)(void))routine, 1, i);
	}
	for (int i = 0; i < 101; i++) {
		swapcontext(&home, &coroutine[0]);
		swapcontext(&home, &coroutine[1]);
	}
	puts("count MAIN between 200\ncount MAIN f1 200");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "recursion", recursion }, { "jumps", jumps },
		{ "deep-jumps", deep_jumps }, { "tails", tails },
		{ "coroutines", coroutines },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	return wrong ? 1 : 7;
}
