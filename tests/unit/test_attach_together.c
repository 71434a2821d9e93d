/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracee/attach.h"
#include "tracee/deaf_client.h"
#include "tracee/loop.h"
#include "tracee/space.h"
#include "tracee/unborn.h"
#include "unit.h"

/*
 * Two processes are attached to, one after the other, and nobody runs the loop
 * yet: what becomes of the first one meanwhile. And of one that is given back.
 */

#define PATIENCE_S 45
#define ROUNDS     4
#define MANY       20

struct counting_client {
	struct tracer_client base;
	unsigned signals, system_calls;
};

static struct counting_client *counting(struct tracer_client *client)
{
	return (struct counting_client *)client;
}

static void count_signal(struct tracer_client *client, struct task *task UNUSED,
			 int signal UNUSED)
{
	counting(client)->signals++;
}

static void count_entry(struct tracer_client *client, struct task *task UNUSED,
			const struct syscall_stop *stop UNUSED)
{
	counting(client)->system_calls++;
}

static struct tracer_client_ops counting_ops(void)
{
	struct tracer_client_ops own = deaf_client_ops;

	own.signal = count_signal;
	own.syscall_entered = count_entry;
	/* None of these comes. */
	own.fork = NULL;
	own.succeed = NULL;
	own.exec = NULL;
	own.tracee_end = NULL;
	own.leave = NULL;
	return own;
}

/* ---- the two processes ---- */

static volatile unsigned *turns; /* of the first, shared with it */
static pid_t first, second;

static void on_signal(int signal UNUSED)
{
	++*turns;
}

static void send_signals(void)
{
	signal(SIGUSR1, on_signal);
	for (;;)
		raise(SIGUSR1);
}

static void rest(void)
{
	for (;;)
		pause();
}

static volatile pid_t *thread;

static void *rest_in_thread(void *unused)
{
	*thread = gettid();
	rest();
	return unused;
}

/* Its turns are waits that have ended. */
static void wait_for_ever(void)
{
	struct epoll_event event;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	pthread_t other;

	/* Where only parents may trace (Yama). */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (epoll < 0 || pthread_create(&other, NULL, rest_in_thread, NULL))
		_exit(1);
	for (;; ++*turns)
		if (epoll_wait(epoll, &event, 1, -1) < 0 && errno != EINTR)
			_exit(1);
}

static pid_t start(void (*work)(void))
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
	}
	return pid;
}

static struct tracer_client_ops ops;
static struct counting_client client;
static struct tracer tracer;

static void begin(void (*work)(void))
{
	turns = mmap(NULL, 2 * sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)turns, MAP_FAILED);
	thread = (volatile pid_t *)turns + 1;
	ops = counting_ops();
	client = (struct counting_client){ .base.ops = &ops };
	tracer_init(&tracer, &client.base, false);
	first = start(work);
	second = start(rest);
	attach_begin(&tracer);
}

static void end(void)
{
	kill(first, SIGKILL);
	kill(second, SIGKILL);
	while (wait(NULL) > 0)
		;
	tracer_fini(&tracer);
}

static void attach_to(pid_t pid)
{
	char *message;

	ck_assert_msg(!attach(&tracer, pid, &message), "%s", message);
}

static void wait_a_moment(uint64_t since)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	ck_assert_uint_lt(clock_now() - since, PATIENCE_S * NS_PER_SECOND);
	nanosleep(&moment, NULL);
}

static void await_stop(pid_t pid)
{
	uint64_t since = clock_now();

	while (procfs_state(pid) != 't')
		wait_a_moment(since);
}

/* A first stop may be the one that attaching has asked for. */
START_TEST(stops_are_served_in_between)
{
	begin(send_signals);
	attach_to(first);
	await_stop(first);
	client.signals = 0;
	attach_to(second);
	for (int i = 0; i < ROUNDS && !client.signals; i++) {
		await_stop(first);
		kill(second, SIGKILL);
		second = start(rest);
		attach_to(second);
	}
	ck_assert_uint_gt(client.signals, 0);
	end();
}
END_TEST

/* As long as its child lives it can't be stopped, and is waited for. */
static void rest_in_vfork(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rest();
	}
	rest();
}

static struct space *begin_anew(pid_t pid)
{
	struct tracee *tracee = tracee_find(&tracer, pid);
	struct task *task;

	ck_assert_ptr_nonnull(tracee);
	for_each_task_of(tracee, task)
		task->begets_ours = false;
	return tracee->space;
}

START_TEST(stops_are_served_while_others_are_awaited)
{
	uint64_t since = clock_now(), deadline;

	begin(send_signals);
	kill(second, SIGKILL);
	second = start(rest_in_vfork);
	while (procfs_state(second) != 'D')
		wait_a_moment(since);
	attach_to(first);
	attach_to(second);
	client.signals = 0;
	while (client.signals < MANY) {
		wait_a_moment(since);
		deadline = clock_now() + NS_PER_SECOND;
		ck_assert(unborn_await(begin_anew(second), deadline));
	}
	end();
}
END_TEST

static void serve_until(const volatile unsigned *counter, unsigned value)
{
	uint64_t since = clock_now();

	while (*counter < value) {
		wait_a_moment(since);
		loop_serve(&tracer);
	}
}

START_TEST(system_calls_are_watched_when_all_are_there)
{
	begin(send_signals);
	tracer.system_calls = true;
	attach_to(first);
	attach_to(second);
	serve_until(turns, *turns + MANY);
	ck_assert_uint_eq(client.system_calls, 0);
	attach_end(&tracer);
	serve_until(&client.system_calls, 1);
	end();
}
END_TEST

/* A report on it is made when all have been attached to. */
static bool has_end_to_tell(pid_t pid, int options)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, pid, &info, WEXITED | WNOWAIT | options) &&
	       info.si_pid == pid;
}

START_TEST(ends_are_left_to_the_loop)
{
	begin(rest);
	attach_to(first);
	kill(first, SIGKILL);
	ck_assert(has_end_to_tell(first, 0));
	attach_to(second);
	ck_assert(has_end_to_tell(first, WNOHANG));
	ck_assert_ptr_nonnull(tracee_find(&tracer, first));
	end();
}
END_TEST

static void trace_thread(void)
{
	if (ptrace(PTRACE_SEIZE, *thread, 0, 0))
		_exit(1);
	*thread = 0;
	rest();
}

static void await_number(pid_t before)
{
	uint64_t since = clock_now();

	while (*thread == before)
		wait_a_moment(since);
}

static void await_rest(pid_t pid)
{
	uint64_t since = clock_now();

	while (procfs_state(pid) != 'S') {
		wait_a_moment(since);
		loop_serve(&tracer);
	}
}

/* On arm64 the kernel forgets what the call was about: sysdeps/NOTES. */
#ifdef __aarch64__
#define INTERRUPTED_MAX 1u
#else
#define INTERRUPTED_MAX 0u
#endif

START_TEST(waits_go_on_when_given_back)
{
	char *message;
	pid_t other;

	begin(wait_for_ever);
	await_number(0);
	await_rest(first);
	other = *thread;
	kill(second, SIGKILL);
	second = start(trace_thread);
	await_number(other);
	ck_assert_int_eq(attach(&tracer, first, &message), -EBUSY);
	free(message);
	/* It may stop later than it is waited for. */
	await_rest(first);
	ck_assert_uint_le(*turns, INTERRUPTED_MAX);
	end();
}
END_TEST

static Suite *together_suite(void)
{
	Suite *suite = suite_create("attach_together");
	TCase *tcase = tcase_create("before the loop runs");

	tcase_add_test(tcase, stops_are_served_in_between);
	tcase_add_test(tcase, stops_are_served_while_others_are_awaited);
	tcase_add_test(tcase, system_calls_are_watched_when_all_are_there);
	tcase_add_test(tcase, ends_are_left_to_the_loop);
	tcase_add_test(tcase, waits_go_on_when_given_back);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(together_suite());
}
