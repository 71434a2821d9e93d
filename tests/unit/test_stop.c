/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/types.h"
#include "tracee/seize.h"
#include "tracee/stop.h"
#include "unit.h"

/* As waitpid() composes them: wait(2), ptrace(2). */
#define STOPPED(signal)      ((signal) << 8 | 0x7f)
#define EVENT(event, signal) ((event) << 16 | STOPPED(signal))
#define EXITED(status)       ((status) << 8)
#define CORE_DUMPED          0x80

static void check_stop(int wait_status, enum stop_kind kind, int signal)
{
	struct stop stop = stop_classify(wait_status);

	ck_assert_msg(stop.kind == kind, "%#x is %s, not %s", wait_status,
		      stop_name(stop.kind), stop_name(kind));
	ck_assert_int_eq(stop.signal, signal);
}

START_TEST(signals)
{
	check_stop(STOPPED(SIGTRAP), STOP_TRAP, SIGTRAP);
	check_stop(STOPPED(SIGTRAP | 0x80), STOP_SYSCALL, SIGTRAP | 0x80);
	for (int signal = 1; signal <= 64; signal++)
		if (signal != SIGTRAP)
			check_stop(STOPPED(signal), STOP_SIGNAL, signal);
}
END_TEST

START_TEST(events)
{
	static const struct {
		int event;
		enum stop_kind kind;
	} events[] = {
		{ PTRACE_EVENT_FORK, STOP_FORK },
		{ PTRACE_EVENT_VFORK, STOP_VFORK },
		{ PTRACE_EVENT_CLONE, STOP_CLONE },
		{ PTRACE_EVENT_VFORK_DONE, STOP_VFORK_DONE },
		{ PTRACE_EVENT_EXEC, STOP_EXEC },
		{ PTRACE_EVENT_STOP, STOP_INTERRUPT },
		{ PTRACE_EVENT_EXIT, STOP_OTHER },
		{ PTRACE_EVENT_SECCOMP, STOP_OTHER },
		{ 99, STOP_OTHER },
	};
	static const int stopping[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		check_stop(EVENT(events[i].event, SIGTRAP), events[i].kind,
			   SIGTRAP);
	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++)
		check_stop(EVENT(PTRACE_EVENT_STOP, stopping[i]), STOP_GROUP,
			   stopping[i]);
}
END_TEST

START_TEST(ends)
{
	for (int status = 0; status < 256; status++) {
		check_stop(EXITED(status), STOP_EXITED, 0);
		ck_assert_int_eq(stop_classify(EXITED(status)).status, status);
	}
	for (int signal = 1; signal <= 64; signal++) {
		check_stop(signal, STOP_KILLED, signal);
		check_stop(signal | CORE_DUMPED, STOP_KILLED, signal);
	}
	/* What WCONTINUED would report is no stop and no end. */
	check_stop(0xffff, STOP_OTHER, 0);
}
END_TEST

START_TEST(names)
{
	for (int a = STOP_TRAP; a <= STOP_KILLED; a++) {
		ck_assert_ptr_nonnull(stop_name(a));
		for (int b = STOP_TRAP; b < a; b++)
			ck_assert_str_ne(stop_name(a), stop_name(b));
	}
}
END_TEST

/* Seizes a child before it begins to do what it is there for. */
static pid_t start(void (*body)(void))
{
	int gate[2];
	pid_t pid;
	char end;

	ck_assert(!pipe(gate));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		close(gate[1]);
		if (!read(gate[0], &end, 1))
			body();
		_exit(7);
	}
	ck_assert(!ptrace(PTRACE_SEIZE, pid, 0,
			  SEIZE_OPTIONS | PTRACE_O_EXITKILL));
	close(gate[0]);
	close(gate[1]);
	return pid;
}

static void expect(pid_t pid, enum stop_kind kind, int signal)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	check_stop(status, kind, signal);
}

static void go_on(pid_t pid, int signal)
{
	ck_assert(!ptrace(PTRACE_CONT, pid, 0, signal));
}

static void expect_exit(pid_t pid, int expected)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	check_stop(status, STOP_EXITED, 0);
	ck_assert_int_eq(stop_classify(status).status, expected);
}

static pid_t message_of(pid_t pid)
{
	unsigned long message;

	ck_assert(!ptrace(PTRACE_GETEVENTMSG, pid, 0, &message));
	return message;
}

static void send_itself(void)
{
	raise(SIGUSR1);
	raise(SIGRTMAX);
	raise(SIGTRAP);
}

START_TEST(real_signals)
{
	pid_t pid = start(send_itself);

	expect(pid, STOP_SIGNAL, SIGUSR1);
	go_on(pid, 0);
	expect(pid, STOP_SIGNAL, SIGRTMAX);
	go_on(pid, 0);
	expect(pid, STOP_TRAP, SIGTRAP);
	go_on(pid, 0);
	expect_exit(pid, 7);
}
END_TEST

static void run_int3(void)
{
	__asm__ volatile("int3");
}

START_TEST(real_traps)
{
	pid_t pid = start(run_int3);

	expect(pid, STOP_TRAP, SIGTRAP);
	ck_assert(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0));
	expect(pid, STOP_TRAP, SIGTRAP);
	ck_assert(!ptrace(PTRACE_SYSCALL, pid, 0, 0));
	expect(pid, STOP_SYSCALL, SIGTRAP | 0x80);
	go_on(pid, 0);
	expect_exit(pid, 7);
}
END_TEST

static void stop_itself(void)
{
	raise(SIGSTOP);
}

START_TEST(real_job_control)
{
	pid_t pid = start(stop_itself);

	expect(pid, STOP_SIGNAL, SIGSTOP);
	go_on(pid, SIGSTOP);
	expect(pid, STOP_GROUP, SIGSTOP);
	ck_assert(!ptrace(PTRACE_LISTEN, pid, 0, 0));
	kill(pid, SIGCONT);
	expect(pid, STOP_INTERRUPT, SIGTRAP);
	go_on(pid, 0);
	expect(pid, STOP_SIGNAL, SIGCONT);
	go_on(pid, SIGCONT);
	expect_exit(pid, 7);
}
END_TEST

static void wait_for_end(void)
{
	for (;;)
		pause();
}

START_TEST(real_interrupt_and_kill)
{
	pid_t pid = start(wait_for_end);

	ck_assert(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	expect(pid, STOP_INTERRUPT, SIGTRAP);
	go_on(pid, 0);
	kill(pid, SIGUSR2);
	expect(pid, STOP_SIGNAL, SIGUSR2);
	go_on(pid, SIGUSR2);
	expect(pid, STOP_KILLED, SIGUSR2);
	pid = start(wait_for_end);
	kill(pid, SIGKILL);
	expect(pid, STOP_KILLED, SIGKILL);
}
END_TEST

static void fork_once(void)
{
	if (!fork())
		_exit(3);
}

START_TEST(real_fork)
{
	pid_t pid = start(fork_once), child;

	expect(pid, STOP_FORK, SIGTRAP);
	child = message_of(pid);
	expect(child, STOP_INTERRUPT, SIGTRAP);
	go_on(child, 0);
	expect_exit(child, 3);
	go_on(pid, 0);
	/* It may be told of its child's end before it ends itself. */
	kill(pid, SIGKILL);
	expect(pid, STOP_KILLED, SIGKILL);
}
END_TEST

static void vfork_once(void)
{
	signal(SIGCHLD, SIG_IGN);
	if (!vfork())
		_exit(3);
}

START_TEST(real_vfork)
{
	pid_t pid = start(vfork_once), child;

	expect(pid, STOP_VFORK, SIGTRAP);
	child = message_of(pid);
	expect(child, STOP_INTERRUPT, SIGTRAP);
	go_on(pid, 0);
	go_on(child, 0);
	expect_exit(child, 3);
	expect(pid, STOP_VFORK_DONE, SIGTRAP);
	ck_assert_int_eq(message_of(pid), child);
	kill(pid, SIGKILL);
	expect(pid, STOP_KILLED, SIGKILL);
}
END_TEST

static void *do_nothing(void *argument)
{
	return argument;
}

static void make_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, do_nothing, NULL))
		pthread_join(thread, NULL);
}

START_TEST(real_clone)
{
	pid_t pid = start(make_thread), thread;

	expect(pid, STOP_CLONE, SIGTRAP);
	thread = message_of(pid);
	expect(thread, STOP_INTERRUPT, SIGTRAP);
	go_on(thread, 0);
	/* While its sibling stands: an end of both would give it status 7. */
	expect_exit(thread, 0);
	go_on(pid, 0);
	expect_exit(pid, 7);
}
END_TEST

static void exec_shell(void)
{
	execl("/bin/sh", "sh", "-c", "exit 5", NULL);
}

START_TEST(real_exec)
{
	pid_t pid = start(exec_shell);

	expect(pid, STOP_EXEC, SIGTRAP);
	ck_assert_int_eq(message_of(pid), pid);
	go_on(pid, 0);
	expect_exit(pid, 5);
}
END_TEST

START_TEST(real_event_that_nobody_asked_for)
{
	pid_t pid = start(send_itself);

	expect(pid, STOP_SIGNAL, SIGUSR1);
	ck_assert(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXIT));
	go_on(pid, SIGUSR1);
	expect(pid, STOP_OTHER, SIGTRAP);
	go_on(pid, 0);
	expect(pid, STOP_KILLED, SIGUSR1);
}
END_TEST

static Suite *stop_suite(void)
{
	Suite *suite = suite_create("stop");
	TCase *tcase = tcase_create("statuses");

	tcase_add_test(tcase, signals);
	tcase_add_test(tcase, events);
	tcase_add_test(tcase, ends);
	tcase_add_test(tcase, names);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("the kernel's own");
	tcase_add_test(tcase, real_signals);
	tcase_add_test(tcase, real_traps);
	tcase_add_test(tcase, real_job_control);
	tcase_add_test(tcase, real_interrupt_and_kill);
	tcase_add_test(tcase, real_fork);
	tcase_add_test(tcase, real_vfork);
	tcase_add_test(tcase, real_clone);
	tcase_add_test(tcase, real_exec);
	tcase_add_test(tcase, real_event_that_nobody_asked_for);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(stop_suite());
}
