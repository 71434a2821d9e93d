/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn KIND [N]: calls f1 ten times, makes N children that call f2 ten times
 * and end with status 3, calls f1 ten times more.
 * spawn child: such a child.
 */

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

long f1(long i);
long f2(long i);

static char *self;
static char *child_argv[] = { "spawn", "child", NULL };

static void first(void)
{
	for (int i = 0; i < 10; i++)
		f1(i);
}

static void second(void)
{
	for (int i = 0; i < 10; i++)
		f2(i);
}

static void child(void)
{
	second();
	_exit(3);
}

static pid_t by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		child();
	return pid;
}

static pid_t by_fork_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execv(self, child_argv);
		_exit(4);
	}
	return pid;
}

static pid_t by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(self, child_argv);
		_exit(4);
	}
	return pid;
}

/* The child makes traced calls in its parent's memory. */
static pid_t by_vfork_calls(void)
{
	pid_t pid = vfork();

	if (!pid) {
		second();
		_exit(3);
	}
	return pid;
}

static pid_t by_posix_spawn(void)
{
	pid_t pid = -1;

	errno = posix_spawn(&pid, self, NULL, NULL, child_argv, environ);
	return pid;
}

static int in_clone(void *unused)
{
	(void)unused;
	child();
	return 0;
}

static pid_t by_clone_vm(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	return clone(in_clone, stack + sizeof(stack), CLONE_VM | SIGCHLD,
		     NULL);
}

static int by_system(void)
{
	char command[4096];

	snprintf(command, sizeof(command), "'%s' child", self);
	return system(command);
}

static int status_of(const char *kind)
{
	static const struct {
		const char *name;
		pid_t (*make)(void);
	} kinds[] = {
		{ "fork", by_fork }, { "fork-exec", by_fork_exec },
		{ "vfork", by_vfork }, { "vfork-calls", by_vfork_calls },
		{ "posix_spawn", by_posix_spawn },
		{ "clone-vm", by_clone_vm },
	};
	int status = -1;

	if (!strcmp(kind, "system"))
		return by_system();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			waitpid(kinds[i].make(), &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int wrong = 0;
	int n = argc > 2 ? atoi(argv[2]) : 1;

	self = argv[0];
	if (!strcmp(argv[1], "child"))
		child();
	if (strchr(argv[0], '/') == NULL)
		return 1;
	first();
	for (int i = 0; i < n; i++) {
		int status = status_of(argv[1]);

		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
	}
	first();
	printf("count MAIN f1 20\ncount child f2 %d\n", 10 * n);
	return wrong ? 1 : 7;
}
