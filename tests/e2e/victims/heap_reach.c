/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache and a leak whose blocks are of one size and come in equal numbers; a
 * few that are lost for good; and a list that two variables hold. "w" on
 * standard input makes so many of each, "o" overwrites malloc's own word of a
 * block, "d" drops the cache, "q" ends it at once. "filter": with a seccomp filter, which allows
 * everything.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

struct entry {
	struct entry *next;
	char text[112];
};

struct entry *cache, *shared, *second;

PLAIN static void lose(void)
{
	void *volatile block = calloc(1, sizeof(struct entry));

	block = NULL;
}

PLAIN static void lose_for_good(void)
{
	void *volatile block = calloc(1, 333);

	block = NULL;
}

PLAIN static void put(void)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	entry->next = cache;
	cache = entry;
}

PLAIN static void share(void)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	entry->next = shared;
	shared = second = entry;
}

static void take(long a, long b, long c, long d, long e, long f, long g, long h)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
}

/*
 * What earlier calls have left below the stack pointer, and in the registers of
 * arguments: dprintf() saves all of these on the stack.
 */
PLAIN static void wipe(void)
{
	void (*volatile eight)(long, long, long, long, long, long, long,
			       long) = take;
	volatile char below[32768];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
	eight(0, 0, 0, 0, 0, 0, 0, 0);
}

PLAIN static void work(void)
{
	for (volatile int i = 0; i < 40; i++) {
		lose();
		put();
		share();
	}
	for (volatile int i = 0; i < 3; i++)
		lose_for_good();
}

PLAIN static void overwrite(void)
{
	uint64_t *volatile block = (uint64_t *)cache;

	block[-1] = 0x4141414141414141;
}

static int filter(void)
{
	struct sock_filter allow =
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char c;

	if (argc > 1 && !strcmp(argv[1], "filter") && filter())
		return 2;
	dprintf(1, "ready\n");
	while (read(0, &c, 1) == 1 && c != 'q') {
		if (c == 'w')
			work();
		else if (c == 'o')
			overwrite();
		else if (c == 'd')
			cache = NULL;
		wipe();
		dprintf(1, "did %c\n", c);
	}
	_exit(0);
}
