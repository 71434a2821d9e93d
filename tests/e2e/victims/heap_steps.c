/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what the words on standard input say, and answers each:
 *
 *	a	alpha() keeps 10 blocks of 100 bytes
 *	b	beta() keeps 5 blocks of 1000 bytes
 *	t	a thread keeps 4 blocks of 50 bytes
 *	g	gives back what alpha() has kept
 *	c	a thousand blocks come and go
 *	f	a child of fork() keeps 3 blocks of 7 bytes and ends
 *	v	a child of vfork() executes this program with the argument
 *		"child", which keeps 2 blocks of 30 bytes
 *	x	executes this program again, which goes on reading
 *	k	SIGKILL to itself
 *	e	ends with status 3
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile alphas[1000];
static unsigned alpha_count;
static void *volatile others[100];

__attribute__((noinline)) static void alpha(void)
{
	for (volatile int i = 0; i < 10; i++)
		alphas[alpha_count++ % 1000] = malloc(100);
	__asm__ volatile("");
}

__attribute__((noinline)) static void beta(void)
{
	for (volatile int i = 0; i < 5; i++)
		others[i] = malloc(1000);
	__asm__ volatile("");
}

static void *gamma_thread(void *argument)
{
	for (volatile int i = 0; i < 4; i++)
		others[10 + i] = malloc(50);
	return argument;
}

__attribute__((noinline)) static void churn(void)
{
	for (volatile int i = 0; i < 1000; i++) {
		others[20] = malloc(64);
		free(others[20]);
	}
	__asm__ volatile("");
}

__attribute__((noinline)) static void keep(unsigned count, size_t size)
{
	for (volatile unsigned i = 0; i < count; i++)
		others[30 + i] = malloc(size);
	__asm__ volatile("");
}

static void give_back(void)
{
	while (alpha_count)
		free(alphas[--alpha_count % 1000]);
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, gamma_thread, NULL))
		_exit(1);
	pthread_join(thread, NULL);
}

static void run_fork(void)
{
	pid_t child = fork();

	if (!child) {
		keep(3, 7);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void run_vfork(char **argv)
{
	char *arguments[] = { argv[0], "child", NULL };
	pid_t child = vfork();

	if (!child) {
		execv("/proc/self/exe", arguments);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

static void heed(char word, char **argv)
{
	switch (word) {
	case 'a':
		alpha();
		break;
	case 'b':
		beta();
		break;
	case 't':
		run_thread();
		break;
	case 'g':
		give_back();
		break;
	case 'c':
		churn();
		break;
	case 'f':
		run_fork();
		break;
	case 'v':
		run_vfork(argv);
		break;
	case 'x':
		execv("/proc/self/exe", argv);
		break;
	case 'k':
		raise(SIGKILL);
		break;
	case 'e':
		_exit(3);
	}
}

int main(int argc, char **argv)
{
	char answer[] = "did  \n", word;

	if (argc > 1 && !strcmp(argv[1], "child")) {
		keep(2, 30);
		return 0;
	}
	if (write(1, "ready\n", 6) < 0)
		return 1;
	while (read(0, &word, 1) == 1) {
		heed(word, argv);
		answer[4] = word;
		if (write(1, answer, 6) < 0)
			return 1;
	}
	return 0;
}
