/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls strlen(), ten frames deep, with some work after each, until SIGUSR1. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long sum;
static volatile sig_atomic_t over;

static void end(int number)
{
	over = number;
}

static void work(unsigned long n)
{
	while (n--)
		sum += n;
}

static __attribute__((noinline)) void deep(int depth, const char *text)
{
	if (depth)
		deep(depth - 1, text);
	else
		sum += strlen(text);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	unsigned long calls = 0;

	signal(SIGUSR1, end);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	for (; !over; calls++) {
		deep(10, "a text");
		work(5000);
	}
	printf("calls %lu\n", calls);
	return 7;
}
