/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread is within sleep() or qsort() when it, or all, end as is said. */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *how;

static int compare(const void *a, const void *b)
{
	if (!strcmp(how, "pthread_exit"))
		pthread_exit(NULL);
	if (!strcmp(how, "SYS_exit"))
		syscall(SYS_exit, 0);
	return a < b;
}

static void *run(void *unused)
{
	int numbers[] = { 2, 1 };

	if (strstr(how, "_exit") && how[0] != '_')
		qsort(numbers, 2, sizeof(int), compare);
	sleep(1000);
	return unused;
}

static void end_all(void)
{
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	abort();
}

int main(int argc, char **argv)
{
	pthread_t thread;

	how = argc > 1 ? argv[1] : "exit";
	pthread_create(&thread, NULL, run, NULL);
	/* It has ended, or is in sleep(). */
	usleep(200000);
	if (strstr(how, "_exit") && how[0] != '_')
		return pthread_join(thread, NULL);
	end_all();
}
