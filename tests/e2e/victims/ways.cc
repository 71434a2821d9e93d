// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ways THREADS ROUNDS: calls of a library's functions, and of read, in all the
 * ways in which they end: they return, throw, are jumped out of, go on as a
 * coroutine, are cancelled, fork; within them the stack is looked at, and a
 * timer's handler makes more. When a line has come; 0 ROUNDS: until another one
 * does. Says how many calls there were of each, and ends with 7 when all were
 * right, at the last line.
 */
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" {
long ways_plain(long i);
long ways_throws(long i);
long ways_calls(long (*callback)(long), long i);
long ways_cleans(long (*callback)(long), long i);
long ways_many(long, long, long, long, long, long, long, long, long);
}

enum { PLAIN, THROWS, CALLS, CLEANS, MANY, READ, FUNCTIONS };

static const char *const names[] = { "ways_plain", "ways_throws", "ways_calls",
				     "ways_cleans", "ways_many", "read" };
static std::atomic<long> counts[FUNCTIONS], wrong;
static std::atomic<bool> over;
static long until;

static thread_local jmp_buf back;
static thread_local ucontext_t outside, inside;
static thread_local bool in_child;

static void count(int function)
{
	counts[function].fetch_add(1, std::memory_order_relaxed);
}

static void check(bool right, const char *what)
{
	if (right)
		return;
	wrong++;
	fprintf(stderr, "wrong: %s\n", what);
}

static long throws(long i)
{
	count(THROWS);
	return ways_throws(i);
}

static long jumps(long i)
{
	longjmp(back, (int)i);
}

static long switches(long i)
{
	swapcontext(&inside, &outside);
	return i;
}

static long throws_later(long i)
{
	swapcontext(&inside, &outside);
	return throws(i);
}

static long deeper(long i)
{
	if (!i)
		return 0;
	count(CALLS);
	return ways_calls(deeper, i - 1);
}

static long calls(long (*callback)(long), long i)
{
	count(CALLS);
	return ways_calls(callback, i);
}

static long cleans(long (*callback)(long), long i)
{
	count(CLEANS);
	return ways_cleans(callback, i);
}

static __attribute__((noinline)) long looks(long i)
{
	const char *const begin = (const char *)calls;
	void *list[32];
	const int found = backtrace(list, 32);

	for (int k = 0; k < found; k++)
		if ((size_t)((char *)list[k] - begin) < 256)
			return i;
	return -1000;
}

static long forks(long i)
{
	int status;
	const pid_t child = fork();

	in_child = !child;
	if (child)
		check(waitpid(child, &status, 0) == child && !status,
		      "a child");
	return i;
}

template <typename Call> static bool is_thrown(Call call)
{
	try {
		call();
	} catch (const std::runtime_error &error) {
		return error.what()[0] == 'o';
	}
	return false;
}

static void coroutine()
{
	const long found = calls(switches, 5);

	check(found == 8, "a coroutine");
	check(is_thrown([] { cleans(throws_later, 7); }), "one that throws");
	swapcontext(&inside, &outside);
}

static void by_coroutine(char *stack, size_t size)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = NULL;
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&outside, &inside);
		check(calls(looks, i) == i + 3, "between coroutines");
	}
}

struct Noted {
	std::atomic<int> &at;
	~Noted() { at++; }
};

static int ends[2];

static long waits(long i)
{
	char byte;

	count(READ);
	return read(ends[0], &byte, 1) * 0 + i;
}

/* For its name alone. */
#ifdef STACK_CUTTER
extern "C" void STACK_CUTTER()
{
}
#endif

static void *is_cancelled(void *context)
{
	Noted note{*(std::atomic<int> *)context};
	sigset_t timer;

	/* In a handler that interrupts read it would be cancelled anywhere, be
	   it in code of a tracer's. */
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &timer, NULL);
	calls(waits, 1);
	return NULL;
}

static void cancel_one()
{
	std::atomic<int> unwound{0};
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, is_cancelled, &unwound))
		return;
	usleep(500);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	check(result == PTHREAD_CANCELED && unwound == 1, "a cancelled thread");
}

static void by_read(int own[2])
{
	char byte = 0;

	check(write(own[1], "x", 1) == 1, "write");
	count(READ);
	check(read(own[0], &byte, 1) == 1 && byte == 'x', "read");
}

static void by_fork()
{
	const bool right = calls(forks, 1) == 4;

	if (in_child)
		_exit(!right || !is_thrown([] { calls(throws, 3); }));
	check(right, "a fork");
}

static void round_of(char *stack, size_t size, int own[2])
{
	for (int i = 0; i < 8; i++) {
		count(PLAIN);
		check(ways_plain(i) == i + 1, "plain");
	}
	count(MANY);
	check(ways_many(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285, "many");
	check(throws(4) == 6, "one that could throw");
	check(is_thrown([] { throws(1); }), "thrown");
	check(is_thrown([] { calls(throws, 1); }), "thrown through");
	check(is_thrown([] { cleans(throws, 1); }), "thrown on");
	if (!setjmp(back))
		cleans(jumps, 1);
	check(calls(deeper, 20) == 63, "recursion");
	check(calls(looks, 1) == 4, "the stack");
	by_coroutine(stack, size);
	by_read(own);
}

static void *run(void *context)
{
	const size_t size = 64 << 10;
	char *stack = (char *)malloc(size);
	int own[2];

	if (pipe(own))
		_exit(5);
	for (long i = 0; until ? i < until : !over; i++) {
		round_of(stack, size, own);
		if (i % 64 == 0)
			by_fork();
		if (i % 16 == 0)
			cancel_one();
	}
	free(stack);
	close(own[0]);
	close(own[1]);
	return context;
}

static void on_timer(int)
{
	count(PLAIN);
	if (ways_plain(41) != 42)
		wrong++;
}

static bool wait_for_line()
{
	char byte = 0;
	pollfd input = { 0, POLLIN, 0 };

	while (poll(&input, 1, -1) < 0)
		;
	while (byte != '\n') {
		count(READ);
		if (!read(0, &byte, 1))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const long threads = atol(argv[1]);
	const itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = {};
	pthread_t list[64];

	until = argc > 2 ? atol(argv[2]) : 0;
	if (pipe(ends))
		return 5;
	signal(SIGALRM, on_timer);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < threads; i++)
		pthread_create(&list[i], NULL, run, NULL);
	if (!until)
		wait_for_line();
	over = true;
	for (long i = 0; i < threads; i++)
		pthread_join(list[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	puts("done");
	fflush(stdout);
	wait_for_line();
	for (int i = 0; i < FUNCTIONS; i++)
		printf("count %s %ld\n", names[i], counts[i].load());
	return wrong ? 1 : 7;
}
