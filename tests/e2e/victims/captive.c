/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captive THREADS MICROSECONDS [WORD...]: a program to attach to, in a plight
 * that the words name. Each thread calls f1(number * 2^40 + i) for i = 0, 1, …
 * and sleeps so long between the calls. Another thread reads letters: the
 * line "at N" answers "a" (thread 0's i), and "q" ends the program, with
 * status 7 if all results were right.
 *
 *	leader	the first thread ends at once
 *	late	the first thread ends at the letter "l"
 *	nnp	may gain no privileges any more
 *	filter	is killed for nearly every system call
 */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

long f1(long i);

static volatile long at[THREADS_MAX];
static long pause_time;
static sem_t leader_may_end;
static int running;

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(2);
}

/* What is left is to read, write, wait, sleep and end. */
static int filter_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(code) / sizeof(*code),
		.filter = code,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		       SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void *caller(void *argument)
{
	const struct timespec pause = { .tv_nsec = pause_time * 1000 };
	long number = (long)argument;

	__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
	for (long i = 0;; i++) {
		long value = (number << 40) + i;

		if (f1(value) != value + 1) {
			say("wrong result\n");
			_exit(1);
		}
		at[number] = i + 1;
		if (pause_time)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return NULL;
}

static void *listener(void *unused)
{
	char letter, line[64];

	__atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
	while (read(0, &letter, 1) == 1 && letter != 'q') {
		if (letter == 'l')
			sem_post(&leader_may_end);
		snprintf(line, sizeof(line), "at %ld\n", at[0]);
		say(line);
	}
	_exit(7);
	return unused;
}

static int has_word(int argc, char **argv, const char *word)
{
	for (int i = 3; i < argc; i++)
		if (!strcmp(argv[i], word))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	int filter = has_word(argc, argv, "filter");
	pthread_t id;

	pause_time = argc > 2 ? atol(argv[2]) : 0;
	sem_init(&leader_may_end, 0, 0);
	for (long i = 0; i < n && i < THREADS_MAX; i++)
		pthread_create(&id, NULL, caller, (void *)i);
	pthread_create(&id, NULL, listener, NULL);
	/* Threads begin with system calls that the filter forbids. */
	while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) <= n)
		usleep(1000);
	if ((filter || has_word(argc, argv, "nnp")) &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 3;
	if (filter && filter_calls()) {
		printf("no filter: %s\n", strerror(errno));
		return 4;
	}
	say("ready\n");
	if (has_word(argc, argv, "late"))
		while (sem_wait(&leader_may_end))
			;
	else if (!has_word(argc, argv, "leader"))
		pthread_join(id, NULL);
	/* Not pthread_exit: it may load a library, which the filter forbids. */
	syscall(SYS_exit, 0);
	return 5;
}
