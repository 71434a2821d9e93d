/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls in situations, by name: `syscalls SITUATION [FILE]'. What it has
 * done is told on standard output.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *who; /* the file in which this process tells its number */
static volatile int signals;
static int fds[2] = { -1, -1 };

/* Who reads from the pipe is woken by the signal, and then has to read. */
static void on_signal(int signal)
{
	(void)signal;
	if (!signals++ && fds[1] >= 0 && write(fds[1], "x", 1) != 1)
		_exit(1);
}

/* For those who send it signals while it waits. */
static void tell_who(void)
{
	FILE *file = fopen(who, "w");

	if (!file || fprintf(file, "%10d\n", (int)getpid()) < 0 || fclose(file))
		_exit(2);
}

/*
 * Each wait is interrupted once by SIGALRM; the kernel has a way of its own for
 * each.
 */
static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };
	const struct timespec time = { .tv_sec = 60 };
	struct epoll_event event;
	char byte;

	sigaction(SIGALRM, &action, NULL);
	if (pipe(fds))
		return;
	tell_who();
	printf("read %d\n", (int)read(fds[0], &byte, 1));
	printf("nanosleep %d\n", nanosleep(&time, NULL));
	printf("poll %d\n", poll(NULL, 0, 60000));
	printf("epoll_wait %d\n",
	       epoll_wait(epoll_create1(0), &event, 1, 60000));
	printf("pause %d\n", pause());
	printf("signals %d\n", signals);
}

/* A stop without a signal handler: the sleep goes on, until SIGALRM. */
static void stopped(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	const struct timespec time = { .tv_sec = 60 };

	sigaction(SIGALRM, &action, NULL);
	tell_who();
	printf("nanosleep %d\n", nanosleep(&time, NULL));
}

static void *call_often(void *count)
{
	for (int i = 0; i < *(int *)count; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[8];
	int count = 500, i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, call_often, &count);
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	printf("getppid %d\n", 8 * count);
}

/* Whether the process's first thread sleeps; stopped for a tracer, it doesn't. */
static int leader_sleeps(void)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (syscalls) %c", &state) != 1)
		_exit(3);
	fclose(file);
	return state == 'S';
}

static void *replace(void *unused)
{
	while (!leader_sleeps())
		usleep(1000);
	execl("/bin/true", "true", (char *)NULL);
	return unused;
}

static void thread_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, replace, NULL);
	pause();
}

/* getpid fails without being called, getuid raises a signal instead. */
static void filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	signal(SIGSYS, on_signal);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		printf("seccomp: %s\n", strerror(errno));
	printf("getpid %ld %d\n", syscall(SYS_getpid), errno);
	syscall(SYS_getuid);
	printf("signals %d\n", signals);
}

/* Of other tables, and of none. */
static void strange(void)
{
	int result = 20; /* getpid, in i386's */

#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
	printf("getpid %d\n", result == getpid());
	result = 4; /* write */
	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(77), "c"(0), "d"(3)
			 : "memory");
	printf("write %d\n", result);
#endif
	printf("9999 %ld\n", syscall(9999));
}

/* Waits for words on standard input, until the end. */
static void reader(void)
{
	char bytes[64];
	ssize_t n;

	printf("ready\n");
	fflush(stdout);
	while ((n = read(0, bytes, sizeof(bytes))) > 0) {
		printf("%.*s", (int)n, bytes);
		fflush(stdout);
	}
	printf("end %zd\n", n);
}

/* With both ways to make them. */
static void children(void)
{
	volatile int i;
	int status;

	for (i = 0; i < 3; i++)
		if (i % 2 ? !vfork() : !fork()) {
			execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
			_exit(1);
		} else {
			wait(&status);
			printf("child %d\n", WEXITSTATUS(status));
		}
}

static const struct {
	const char *name;
	void (*run)(void);
} situations[] = {
	{ "interrupted", interrupted },
	{ "stopped", stopped },
	{ "threads", threads },
	{ "thread_exec", thread_exec },
	{ "filtered", filtered },
	{ "strange", strange },
	{ "reader", reader },
	{ "children", children },
};

int main(int argc, char **argv)
{
	size_t i;

	who = argc > 2 ? argv[2] : "";
	for (i = 0; i < sizeof(situations) / sizeof(situations[0]); i++)
		if (argc > 1 && !strcmp(argv[1], situations[i].name))
			situations[i].run();
	return 0;
}
