/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fertile THREADS: each thread makes children that call f1 and end with status
 * 3, every other one by a clone() that takes long, the rest by fork, vfork and
 * posix_spawn in turn, and threads that call f1. Says which child has ended
 * otherwise. "m": says how many have been made; "q" ends it, with status 7.
 * fertile child: such a child.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

long f1(long i);

static atomic_bool ends;
static atomic_long made;
static char *self;

static void child(void)
{
	for (int i = 0; i < 3; i++)
		f1(i);
	_exit(3);
}

static pid_t by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		child();
	return pid;
}

static pid_t by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		child();
	return pid;
}

static pid_t by_spawn(void)
{
	char *argv[] = { self, "child", NULL };
	pid_t pid = -1;

	errno = posix_spawn(&pid, self, NULL, NULL, argv, environ);
	return errno ? -1 : pid;
}

static int in_clone(void *unused)
{
	(void)unused;
	child();
	return 0;
}

/*
 * Between the kernel's decision who traces the child and its birth a network
 * is made, which takes a while, and a right.
 */
static pid_t by_clone(void)
{
	char stack[1 << 14] __attribute__((aligned(16)));
	pid_t pid = clone(in_clone, stack + sizeof(stack),
			  CLONE_VM | CLONE_VFORK | CLONE_NEWNET | SIGCHLD,
			  NULL);

	return pid < 0 ? by_fork() : pid;
}

static void *in_thread(void *unused)
{
	f1(1);
	return unused;
}

static const struct {
	const char *name;
	pid_t (*make)(void);
} kinds[] = {
	{ "fork", by_fork },
	{ "vfork", by_vfork },
	{ "spawn", by_spawn },
	{ "clone", by_clone },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void make_one(unsigned kind)
{
	pid_t pid = kinds[kind].make();
	int status = -1;

	if (pid < 0) {
		printf("%s: %s\n", kinds[kind].name, strerror(errno));
		return;
	}
	if (waitpid(pid, &status, 0) != pid)
		printf("%s: waitpid: %s\n", kinds[kind].name, strerror(errno));
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
		printf("%s: status 0x%x\n", kinds[kind].name, status);
	made++;
}

static void make_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, in_thread, NULL);

	if (error)
		printf("thread: %s\n", strerror(error));
	else
		pthread_join(thread, NULL);
}

static void *make(void *number)
{
	const bool slow = (size_t)number % 2;

	for (unsigned i = 0; !ends; i++) {
		make_one(slow ? KINDS - 1 : i % (KINDS - 1));
		if (i % 4 == 0)
			make_thread();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[64];

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "child"))
		child();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, make, (void *)(size_t)i);
	puts("ready");
	while (getchar() == 'm')
		printf("made %ld\n", made);
	ends = true;
	for (int i = 0; i < count && i < 64; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
