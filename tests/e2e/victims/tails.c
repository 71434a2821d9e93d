// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tails tails ROUNDS: calls functions that go on to others by a jump. tails deep
 * DEPTH: calls within calls. tails often MS: calls of depth 100 for so long. tails
 * fork CHILDREN: each calls 100 times. When a line has come; says how many calls
 * there were of tails_deep, and ends with 7 when all were right, at the next line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long tails_plain(long i);
long tails_read(int fd, void *buffer, unsigned long size);
long tails_text(const char *text, long i);
long tails_deep(long (*callback)(long), long i);

static long calls, wrong;

static void check(int right)
{
	wrong += !right;
}

static __attribute__((noinline)) long deeper(long i)
{
	if (!i)
		return 0;
	calls++;
	return tails_deep(deeper, i - 1);
}

static void by_jumps(long rounds)
{
	char bytes[8];
	int ends[2];

	check(!pipe(ends));
	for (long i = 0; i < rounds; i++) {
		memset(bytes, 0, sizeof(bytes));
		check(write(ends[1], "abcd", 4) == 4);
		check(tails_read(ends[0], bytes, 4) == 4 &&
		      !memcmp(bytes, "abcd", 4));
		check(tails_read(-1, bytes, 4) == -1);
		check(tails_text("A", i) == i + 'A' + 1);
		check(tails_plain(i) == i + 1);
	}
}

static void wait_for_line(void)
{
	int c;

	do
		c = getchar();
	while (c != '\n' && c != EOF);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void often(long ms)
{
	const double end = now() + (double)ms;

	while (now() < end)
		check(deeper(100) == 100);
}

static void by_children(long count)
{
	for (long i = 0; i < count; i++) {
		const pid_t child = fork();
		int status;

		if (!child) {
			for (long k = 0; k < 100; k++)
				check(tails_plain(k) == k + 1);
			_exit(wrong ? 1 : 0);
		}
		check(tails_plain(i) == i + 1);
		check(waitpid(child, &status, 0) == child && !status);
	}
}

int main(int argc, char **argv)
{
	const long number = argc > 2 ? atol(argv[2]) : 0;

	/* By then the agent is in. */
	for (int i = 0; i < 4; i++)
		check(tails_plain(-1) == 0);
	puts("ready");
	fflush(stdout);
	wait_for_line();
	if (!strcmp(argv[1], "tails"))
		by_jumps(number);
	else if (!strcmp(argv[1], "deep"))
		check(deeper(number) == number);
	else if (!strcmp(argv[1], "often"))
		often(number);
	else
		by_children(number);
	printf("done\n");
	fflush(stdout);
	wait_for_line();
	printf("count tails_deep %ld\n", calls);
	return wrong ? 1 : 7;
}
