/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends as its argument says. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void on_signal(int signal)
{
	(void)signal;
}

static void *leave(void *how)
{
	if (!strcmp(how, "thread-exit"))
		exit(7);
	pthread_exit(NULL);
}

static void by_thread(char *how)
{
	pthread_t id;

	pthread_create(&id, NULL, leave, how);
	pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? argv[1] : "return";

	prctl(PR_SET_DUMPABLE, 1);
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "null"))
		*(volatile int *)0 = 1;
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "trap"))
		raise(SIGTRAP);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "0"))
		return 0;
	if (!strcmp(how, "255"))
		return 255;
	if (!strncmp(how, "thread", 6))
		by_thread(how);
	if (!strcmp(how, "handled")) {
		signal(SIGUSR1, on_signal);
		signal(SIGALRM, on_signal);
		raise(SIGUSR1);
		alarm(1);
		pause();
	}
	return 7;
}
