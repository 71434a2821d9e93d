/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that would notice a child that isn't its own: it counts SIGCHLD,
 * and waits for any child; has children of its own, timers and threads that
 * write all the time; and says what there was when it is asked. "filter": with
 * a seccomp filter, which allows everything.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_long heard, forked, waited, strange, ticks, wrong;
static atomic_bool quit;
static long *numbers;
void *kept;

#define COUNT 200000

static void on_child(int signal)
{
	(void)signal;
	heard++;
}

static void on_tick(int signal)
{
	(void)signal;
	ticks++;
}

static void *writes(void *unused)
{
	for (long round = 1; !quit; round++) {
		for (size_t i = 0; i < COUNT; i++)
			numbers[i] = round;
		for (size_t i = 0; i < COUNT; i++)
			wrong += numbers[i] != round;
	}
	return unused;
}

static void bear(void)
{
	pid_t child = fork();

	if (!child)
		_exit(7);
	forked += child > 0;
}

/* All that there are, whoever made them. */
static void *waits(void *unused)
{
	while (!quit) {
		int status;
		pid_t pid;

		bear();
		while ((pid = waitpid(-1, &status, 0)) > 0) {
			waited++;
			strange += !WIFEXITED(status) ||
				   WEXITSTATUS(status) != 7;
		}
		strange += errno != ECHILD && errno != EINTR;
		usleep(5000);
	}
	return unused;
}

static void filter(void)
{
	struct sock_filter allow[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 1, allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((noinline)) static void lose(void)
{
	void *volatile block = malloc(1016);

	block = NULL;
	(void)block;
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 3000 }, { 0, 3000 } };
	struct sigaction child = { .sa_handler = on_child,
				   .sa_flags = SA_RESTART };
	struct sigaction tick = { .sa_handler = on_tick,
				  .sa_flags = SA_RESTART };
	pthread_t threads[2];
	char c;

	if (argc > 1 && !strcmp(argv[1], "filter"))
		filter();
	numbers = calloc(COUNT, sizeof(*numbers));
	kept = malloc(1000);
	lose();
	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGALRM, &tick, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_create(&threads[0], NULL, writes, NULL);
	pthread_create(&threads[1], NULL, waits, NULL);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) < 0)
		;
	quit = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	while (waitpid(-1, NULL, __WALL) > 0)
		waited++;
	printf("strange %ld wrong %ld unheard %d unwaited %ld\n", strange,
	       wrong, heard > forked, forked - waited);
	return 0;
}
