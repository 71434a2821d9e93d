/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call of each kind, for the look of the log's lines. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ints(char a, short b, int c, long d, unsigned e, unsigned long f);
int many(int a, int b, int c, int d, int e, int f, int g, int h);
const char *text(const char *text);
void *address(void *address);
void nothing(void);
long guess(long a, long b, long c, long d);
long slow(long milliseconds);
long nested(long (*callback)(long), long i);
long f1(long i);
long f2(long i);

static void types(void)
{
	ints('x', -2, -100000, 5000000000, 4000000000u, ~0ul);
	many(1, 2, 3, 4, 5, 6, 7, 8);
	address(NULL);
	address((void *)0x1234abcd);
	nothing();
	guess(1, -5, 10000, 10001);
	guess(-10000, -10001, 0, 0x123456789a);
}

static void strings(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	text("short");
	text("");
	text(NULL);
	text("exactly thirty-two characters ok");
	text("more than thirty-two characters are cut");
	text("tab\tnewline\nreturn\rback\\slash quote\" bell\a");
	text("\001\177\200\377");
	text((char *)16);
	mprotect(pages + 4096, 4096, PROT_NONE);
	memcpy(pages + 4090, "ending", 6);
	text(pages + 4090);
}

static long inner(long i)
{
	return f1(i);
}

static long middle(long i)
{
	return nested(inner, i);
}

static void nesting(void)
{
	nested(middle, 5);
	f2(9);
}

static void *thread(void *unused)
{
	for (int i = 0; i < 5; i++) {
		slow(20);
		f2(i);
	}
	return unused;
}

static void threads(void)
{
	pthread_t ids[2];

	f1(0);
	for (int i = 0; i < 2; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	f1(1);
}

static void times(void)
{
	for (int i = 0; i < 3; i++)
		slow(50);
	f1(0);
}

static void forever(void)
{
	printf("ready\n");
	fflush(stdout);
	for (long i = 0;; i++) {
		f1(i);
		usleep(1000);
	}
}

static void on_interrupt(int signal)
{
	(void)signal;
	write(1, "interrupted\n", 12);
	f2(1);
	_exit(9);
}

static void interrupted(void)
{
	signal(SIGINT, on_interrupt);
	forever();
}

static void signals(void)
{
	signal(SIGUSR1, SIG_IGN);
	f1(0);
	raise(SIGUSR1);
	signal(SIGURG, SIG_DFL);
	raise(SIGURG);
	raise(SIGWINCH);
	f1(1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{ "types", types }, { "strings", strings },
		{ "nesting", nesting }, { "threads", threads },
		{ "times", times }, { "forever", forever },
		{ "interrupted", interrupted }, { "signals", signals },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	fflush(stdout);
	return 7;
}
