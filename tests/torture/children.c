/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define STACK_SIZE 65536

/* Every child says how it will end before it does. */
static int child_calls(struct stream *stream, unsigned calls)
{
	int status = 20 + calls;

	while (calls--)
		call(stream, calls % 3 ? LEAF : DATA);
	stream->status = status;
	return status;
}

static void check_child(const char *how, pid_t pid, int wanted, int flags)
{
	int status;
	pid_t got;

	do
		got = waitpid(pid, &status, flags);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		fail("%s: waitpid: %s", how, strerror(errno));
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted)
		fail("%s: child %d has status %#x, not exit %d", how, (int)pid,
		     status, wanted);
}

static bool is_started(const char *how, pid_t pid)
{
	if (pid < 0)
		fail("%s: %s", how, strerror(errno));
	return pid > 0;
}

void do_fork(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	pid_t pid = fork();

	if (!pid) {
		struct stream *stream = stream_new();

		_exit(stream ? child_calls(stream, calls) : 20 + (int)calls);
	}
	if (is_started("fork", pid))
		check_child("fork", pid, 20 + calls, 0);
}

/* Its parent is gone: what it has done is told through a pipe. */
static void run_daemon(int out, unsigned calls)
{
	struct stream *stream;
	pid_t parent = getpid();
	char done = 'd';

	if (setsid() < 0)
		fail("setsid: %s", strerror(errno));
	if (fork())
		_exit(3);
	stream = stream_new();
	if (stream) {
		stream->parent = parent;
		(void)child_calls(stream, calls);
	}
	(void)!write(out, &done, 1);
	_exit(20 + calls);
}

void do_daemon(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	int ends[2];
	char done = 0;
	pid_t pid;
	ssize_t n;

	if (pipe(ends)) {
		fail("pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		run_daemon(ends[1], calls);
	close(ends[1]);
	if (is_started("daemon", pid))
		check_child("daemon", pid, 3, 0);
	do
		n = read(ends[0], &done, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1 || done != 'd')
		fail("the daemon has not done its work");
	close(ends[0]);
}

static void make_arguments(char *argv[6], char text[12], unsigned calls)
{
	snprintf(text, 12, "%u", calls);
	argv[0] = (char *)program;
	argv[1] = "--child";
	argv[2] = text;
	argv[3] = "--shared";
	argv[4] = (char *)shared_path;
	argv[5] = NULL;
}

void do_vfork(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	bool executes = random_below(&worker->random, 2);
	struct stream *const stream = stream_new();
	char *argv[6], text[12];
	pid_t pid;

	if (!stream)
		return;
	stream->shares = true;
	make_arguments(argv, text, calls);
	pid = vfork();
	if (!pid) {
		stream->pid = syscall(SYS_getpid);
		if (!executes)
			_exit(child_calls(stream, calls));
		(void)child_calls(stream, 2);
		execve(program, argv, environ);
		_exit(1);
	}
	/* A stream that goes on in another program isn't its last. */
	if (executes)
		stream->status = -1;
	if (is_started("vfork", pid))
		check_child("vfork", pid, 20 + calls, 0);
}

struct clone_order {
	struct stream *stream;
	unsigned calls;
};

static int clone_main(void *context)
{
	struct clone_order *order = context;

	order->stream->pid = syscall(SYS_getpid);
	return child_calls(order->stream, order->calls);
}

/* It runs beside us in our memory, and even with our thread pointer. */
void do_clone(struct worker *worker)
{
	struct clone_order order = { stream_new(),
				     random_below(&worker->random, 10) };
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED || !order.stream)
		return;
	order.stream->shares = true;
	pid = clone(clone_main, stack + STACK_SIZE, CLONE_VM | SIGCHLD, &order);
	call(worker->stream, LEAF);
	if (is_started("clone", pid))
		check_child("clone", pid, 20 + order.calls, 0);
	munmap(stack, STACK_SIZE);
}

void do_spawn(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	char *argv[6], text[12];
	pid_t pid;
	int err;

	make_arguments(argv, text, calls);
	err = posix_spawn(&pid, program, NULL, NULL, argv, environ);
	if (err)
		fail("posix_spawn: %s", strerror(err));
	else
		check_child("posix_spawn", pid, 20 + calls, 0);
}

static void *exec_thread(void *argv)
{
	execve(program, argv, environ);
	fail("execve: %s", strerror(errno));
	_exit(1);
}

static void *busy_thread(void *context)
{
	while (!atomic_load(&shared->stop))
		call(context, LEAF);
	for (;;)
		pause();
	return NULL;
}

/* Threads in a forked child: what glibc allows, though POSIX doesn't. */
static pthread_t start_thread(void *(*function)(void *), void *context)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, function, context);

	if (err)
		fail("pthread_create: %s", strerror(err));
	return thread;
}

static void start_busy_thread(void)
{
	struct stream *stream = stream_new();

	if (!stream)
		return;
	stream->cut = 1;
	(void)start_thread(busy_thread, stream);
}

/* exec from a thread that isn't the leader, while another one works. */
void do_exec(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	bool from_leader = random_below(&worker->random, 2);
	char *argv[6], text[12];
	pid_t pid;

	make_arguments(argv, text, calls);
	pid = fork();
	if (!pid) {
		start_busy_thread();
		if (from_leader)
			exec_thread(argv);
		pthread_join(start_thread(exec_thread, argv), NULL);
		_exit(1);
	}
	if (is_started("exec", pid))
		check_child("exec", pid, 20 + calls, 0);
}

/* exit of the process in the middle of its threads' calls. */
void do_exit(struct worker *worker)
{
	unsigned calls = random_below(&worker->random, 10);
	pid_t pid = fork();

	if (!pid) {
		struct stream *stream = stream_new();

		start_busy_thread();
		start_busy_thread();
		_exit(stream ? child_calls(stream, calls) : 20 + (int)calls);
	}
	if (is_started("exit", pid))
		check_child("exit", pid, 20 + calls, 0);
}

int child_main(unsigned calls)
{
	struct stream *stream = stream_new();

	return stream ? child_calls(stream, calls) : 20 + (int)calls;
}
