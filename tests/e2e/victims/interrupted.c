/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interrupted fork|sleep|end SIGNALS: a thread calls labs() over and over; as
 * long as a call lasts another one sends it signals, SIGNALS at most, one after
 * the other. So they come where the thread was stopped in the midst of a call.
 *
 * The handler forks a child that goes on with the call, and then ends; or
 * sleeps for 300 ms; or ends the thread: the first one at its first signal of a
 * call, the next one at the second, and the one behind SIGNALS of these never.
 * Each handler says "in" when it begins. A line ends the calls, and it says how
 * many have come back; the next one ends all of it: 7, if all was right.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD 5

static char what;
static int most, enders;
static volatile int over, is_child;
static volatile long call, made, wrong; /* call: the number of one that runs */
static volatile int handled;            /* … of its signals */
static volatile int caller;             /* its thread; 0: has ended */

static void fork_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		is_child = 1;
		return;
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status) || WEXITSTATUS(status) != CHILD)
		wrong++;
}

static void handle(int signal)
{
	(void)signal;
	if (write(1, "in\n", 3) != 3)
		wrong++;
	if (what == 'f')
		fork_child();
	else if (what == 's')
		usleep(300000);
	if (is_child)
		return;
	handled++;
	if (what == 'e' && enders < most && handled > enders) {
		enders++;
		caller = 0;
		syscall(SYS_exit, 0);
	}
}

static void *make_calls(void *context)
{
	long i;

	caller = gettid();
	for (i = 1; !over; i++) {
		handled = 0;
		call = i;
		if (labs(-i) != i)
			wrong++;
		call = 0;
		if (is_child)
			_exit(wrong ? 1 : CHILD);
		made++;
		usleep(1000);
	}
	return context;
}

/* It is sent to nobody who has ended, as the number isn't used again so soon. */
static void *send_signals(void *context)
{
	long last = 0;
	int sent = 0;

	for (; !over; sched_yield()) {
		const long now = call;

		if (now != last)
			sent = 0;
		last = now;
		if (!now || !caller || sent != handled || sent >= most)
			continue;
		sent++;
		syscall(SYS_tgkill, getpid(), caller, SIGUSR1);
	}
	return context;
}

/* One that makes calls, as long as any are to be made. */
static void *keep_calling(void *context)
{
	pthread_t thread;

	while (!over) {
		pthread_create(&thread, NULL, make_calls, NULL);
		pthread_join(thread, NULL);
	}
	return context;
}

static void read_line(void)
{
	char line[64];

	if (!fgets(line, sizeof(line), stdin))
		_exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle };
	pthread_t sender, keeper;

	if (argc < 3)
		return 2;
	what = argv[1][0];
	most = atoi(argv[2]);
	sigaction(SIGUSR1, &action, NULL);
	puts("ready");
	fflush(stdout);
	pthread_create(&sender, NULL, send_signals, NULL);
	pthread_create(&keeper, NULL, keep_calling, NULL);
	read_line();
	over = 1;
	pthread_join(keeper, NULL);
	pthread_join(sender, NULL);
	printf("made %ld\n", made);
	fflush(stdout);
	read_line();
	return wrong ? 9 : 7;
}
