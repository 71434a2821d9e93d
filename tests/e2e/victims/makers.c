/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that are made by assembler, each on behalf of one function. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));

static void *nothing(void *unused)
{
	return unused;
}

static int end(void *unused)
{
	(void)unused;
	return 0;
}

static void handler(int signal)
{
	(void)signal;
}

__attribute__((noipa)) int makes_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, nothing, NULL) ||
	       pthread_join(thread, NULL);
}

__attribute__((noipa)) int makes_clone(void)
{
	pid_t pid = clone(end, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	return waitpid(pid, NULL, 0) != pid;
}

__attribute__((noipa)) int makes_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return waitpid(pid, NULL, 0) != pid;
}

__attribute__((noipa)) int makes_signal(void)
{
	return signal(SIGUSR1, handler) == SIG_ERR || raise(SIGUSR1);
}

int main(void)
{
	return makes_thread() + makes_clone() + makes_vfork() + makes_signal();
}
