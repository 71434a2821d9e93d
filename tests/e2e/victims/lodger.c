// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lodger WAY THREADS ROUNDS STACK: THREADS threads on stacks of STACK bytes each call
 * labs(), malloc() and free() ROUNDS times, when a line comes. WAY is what it allows
 * itself: "all", or what a filter for system calls does with most others ("errno",
 * "kill").
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rounds;
static long wrong;
static pthread_barrier_t all_there;

#define ALLOW(number)                                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                    \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What threads, stdio and malloc need. */
static int filter_calls(unsigned otherwise)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_read),
		ALLOW(__NR_write),
		ALLOW(__NR_mmap),
		ALLOW(__NR_munmap),
		ALLOW(__NR_mprotect),
		ALLOW(__NR_madvise),
		ALLOW(__NR_brk),
		ALLOW(__NR_futex),
		ALLOW(__NR_clone),
		ALLOW(__NR_clone3),
		ALLOW(__NR_set_robust_list),
		ALLOW(__NR_rseq),
		ALLOW(__NR_rt_sigprocmask),
		ALLOW(__NR_rt_sigaction),
		ALLOW(__NR_rt_sigreturn),
		ALLOW(__NR_sched_getaffinity),
		ALLOW(__NR_fstat),
		ALLOW(__NR_newfstatat),
		ALLOW(__NR_getrandom),
		ALLOW(__NR_sched_yield),
		ALLOW(__NR_gettid),
		ALLOW(__NR_getpid),
		ALLOW(__NR_prlimit64),
		ALLOW(__NR_restart_syscall),
		ALLOW(__NR_exit),
		ALLOW(__NR_exit_group),
		BPF_STMT(BPF_RET | BPF_K, otherwise),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *work(void *context)
{
	long i, sum = 0;

	pthread_barrier_wait(&all_there);
	for (i = 0; i < rounds; i++) {
		char *volatile block = malloc((size_t)(16 + i % 100));

		sum += labs(-i);
		if (!block)
			sum = -1;
		free(block);
	}
	if (sum != (long)rounds * (rounds - 1) / 2)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return context;
}

static int run(int count, size_t stack)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t attributes;
	int i, err = pthread_attr_init(&attributes);

	err |= pthread_attr_setstacksize(&attributes, stack);
	err |= pthread_barrier_init(&all_there, NULL, (unsigned)count);
	for (i = 0; i < count && threads && !err; i++)
		err = pthread_create(&threads[i], &attributes, work, NULL);
	if (!threads || err)
		return 0;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 1;
}

int main(int argc, char **argv)
{
	char line[8];
	int fine = argc == 5;

	if (!fine)
		return 2;
	rounds = atoi(argv[3]);
	if (!strcmp(argv[1], "errno"))
		fine = !filter_calls(SECCOMP_RET_ERRNO | ENOSYS);
	else if (!strcmp(argv[1], "kill"))
		fine = !filter_calls(SECCOMP_RET_KILL_PROCESS);
	printf("ready\n");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
	fine = fine && run(atoi(argv[2]), (size_t)atol(argv[4]));
	printf("done\n");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
	return fine && !wrong ? 7 : 1;
}
