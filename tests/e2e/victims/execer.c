/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs itself again and again: execer HOW ROUNDS. HOW is "chain" (exec),
 * "thread" (exec by a thread that is not the first, while others call),
 * "vfork" (each child is a chain of its own). Ends with status 7 when all that
 * it made has.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define CHAIN "2"

long f1(long);

static char *program;
static const char *how;
static int rounds;

static void call(void)
{
	for (long i = 0; i < 20; i++)
		f1(i);
}

static _Noreturn void go_on(const char *next_how, const char *next_rounds)
{
	execl("/proc/self/exe", program, next_how, next_rounds, (char *)NULL);
	_exit(1);
}

static void *do_calls(void *unused)
{
	for (;;)
		f1(1);
	return unused;
}

static void *do_exec(void *number)
{
	go_on(how, number);
}

static void go_on_by_thread(char *number)
{
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, do_calls, NULL);
	pthread_create(&thread, NULL, do_exec, number);
	do_calls(NULL);
}

static void make_child(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0)
		go_on("chain", CHAIN);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 7) {
		fprintf(stderr, "child %d: status %#x\n", (int)pid, status);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char number[16];

	if (argc != 3)
		return 1;
	program = argv[0];
	how = argv[1];
	rounds = atoi(argv[2]);
	call();
	if (!strcmp(how, "vfork")) {
		while (rounds-- > 0) {
			make_child();
			call();
		}
		return 7;
	}
	if (rounds == 0)
		return 7;
	snprintf(number, sizeof(number), "%d", rounds - 1);
	if (!strcmp(how, "thread"))
		go_on_by_thread(number);
	go_on(how, number);
}
