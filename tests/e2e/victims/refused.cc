/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operator new in all the ways in which a call of it ends: threads that get
 * memory, are refused it, throw, jump, are cancelled, fork, and look at their
 * stacks within it. Says now and then how much it has done, until that is the
 * first argument (0: for ever); what goes wrong ends it with 1. With another
 * argument: one thread does it, that often, without coroutines.
 */
#include <execinfo.h>
#include <new>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static const size_t too_much = (size_t)1 << 60;
static const int threads = 4;
static volatile bool over;
static long rounds[threads];

struct refused { bool known; };

static thread_local void (*how)();
static thread_local jmp_buf back;
static thread_local ucontext_t outside, inside;
static thread_local pid_t forked;
static thread_local bool known;

static void wrong(const char *what)
{
	fprintf(stderr, "wrong: %s\n", what);
	_exit(1);
}

static bool refuse(void (*by)());

/* Whether the stack is known as far as who wanted the memory, and further. */
static bool sees_all()
{
	const char *const begin = (const char *)refuse;
	void *list[64];
	const int count = backtrace(list, 64);

	for (int i = 0; i + 2 < count; i++)
		if ((char *)list[i] - begin > 0 && (char *)list[i] - begin < 2048)
			return true;
	return false;
}

static void handler() { how(); }
static void throws() { throw refused{ sees_all() }; }
static void jumps() { longjmp(back, 1); }

static void leaves_for_a_while()
{
	swapcontext(&inside, &outside);
	throw refused{ sees_all() };
}

static void forks()
{
	int status;

	forked = fork();
	if (forked && (waitpid(forked, &status, 0) != forked || status))
		wrong("a child");
	throw refused{ sees_all() };
}

static void waits_for_ever()
{
	for (;;)
		pause();
}

static __attribute__((noinline, noclone)) bool refuse(void (*by)())
{
	bool seen = false;

	how = by;
	try {
		operator delete[](operator new[](too_much));
	} catch (refused &one) {
		seen = one.known;
	}
	return seen;
}

static void get_and_give(unsigned salt)
{
	char *blocks[64];

	for (unsigned i = 0; i < 64; i++) {
		const size_t size = 1 + (salt + i * 7) % 300;

		blocks[i] = i % 2 ? new char[size] : (char *)operator new(size);
		memset(blocks[i], (int)i, size);
	}
	for (unsigned i = 0; i < 64; i++) {
		if (blocks[i][0] != (char)i)
			wrong("a block");
		if (i % 2)
			delete[] blocks[i];
		else
			operator delete(blocks[i]);
	}
}

static void coroutine()
{
	known = refuse(leaves_for_a_while);
	swapcontext(&inside, &outside);
}

static void by_coroutine(char *stack, size_t size)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	known = false;
	swapcontext(&outside, &inside);
	get_and_give(3);
	swapcontext(&outside, &inside);
	if (!known)
		wrong("a coroutine");
}

static void by_fork()
{
	const bool seen = refuse(forks);

	if (!forked)
		_exit(!seen || !refuse(throws));
	if (!seen)
		wrong("a fork");
}

static const size_t stack_size = 256 << 10;

static void round_of(char *stack, long number)
{
	get_and_give((unsigned)number);
	if (!refuse(throws))
		wrong("a stack");
	if (!setjmp(back))
		refuse(jumps);
	if (stack)
		by_coroutine(stack, stack_size);
	try {
		how = throws;
		if (operator new(too_much, std::nothrow))
			wrong("too much");
	} catch (refused &) {
	}
}

static void *run(void *context)
{
	const long own = (long)context;
	char *stack = (char *)malloc(stack_size);

	while (!over) {
		round_of(stack, rounds[own]);
		if (!own && rounds[own] % 64 == 0)
			by_fork();
		__atomic_fetch_add(&rounds[own], 1, __ATOMIC_RELAXED);
	}
	free(stack);
	return NULL;
}

static int run_alone(long until)
{
	for (long i = 0; i < until; i++)
		round_of(NULL, i);
	puts("right");
	return 0;
}

struct noted {
	int *at;
	~noted() { ++*at; }
};

static void *is_cancelled(void *context)
{
	noted note = { (int *)context };

	refuse(waits_for_ever);
	return NULL;
}

static void cancel_one()
{
	pthread_t thread;
	void *result;
	int unwound = 0;

	if (pthread_create(&thread, NULL, is_cancelled, &unwound))
		wrong("no thread");
	usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED || unwound != 1)
		wrong("a cancelled thread");
}

static long done()
{
	long sum = 0;

	for (int i = 0; i < threads; i++)
		sum += __atomic_load_n(&rounds[i], __ATOMIC_RELAXED);
	return sum;
}

int main(int argc, char **argv)
{
	const long until = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t list[threads];
	long said = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	std::set_new_handler(handler);
	if (argc > 2)
		return run_alone(until);
	for (long i = 0; i < threads; i++)
		pthread_create(&list[i], NULL, run, (void *)i);
	while (!until || done() < until) {
		cancel_one();
		if (done() != said)
			printf("%ld\n", said = done());
	}
	over = true;
	for (int i = 0; i < threads; i++)
		pthread_join(list[i], NULL);
	puts("right");
	return 0;
}
