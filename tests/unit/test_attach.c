/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status_text.h"
#include "tracee/attach.h"
#include "tracee/translator.h"
#include "unit.h"

#define PID     4711
#define ALICE   1000
#define NO_YAMA (-1)

#define COMMON   "Name:\tvictim\nTgid:\t4711\nPid:\t4711\n"
#define OF_ALICE "Uid:\t1000\t1000\t1000\t1000\n"
#define OF_ROOT  "Uid:\t0\t0\t0\t0\n"
#define MEMORY   "VmSize:\t    3060 kB\n"
#define SLEEPS   "State:\tS (sleeping)\nTracerPid:\t0\n"
#define ALIVE    COMMON SLEEPS OF_ALICE MEMORY

/* What is asked, and what the answer has to hold. */
struct question {
	const char *status;
	const char *tracer_name;
	uid_t own_uid;
	int yama;
	int error;
	const char *reason;
	const char *remedy;
};

/* One line about the process, without the words of an errno. */
static void check_form(const char *message)
{
	ck_assert_ptr_nonnull(message);
	ck_assert_msg(strstr(message, "process 4711 ") == message,
		      "which process? %s", message);
	ck_assert_ptr_null(strchr(message, '\n'));
	ck_assert_ptr_null(strstr(message, strerror(EPERM)));
}

/* Root, and nobody else, has the capability. */
#define AS(uid, yama) (&(const struct attach_rights){ (uid), !(uid), (yama) })

static void ask(const struct question *q)
{
	struct procfs_status status = status_of(q->status);
	char *message = attach_diagnose(PID, &status, q->tracer_name,
					AS(q->own_uid, q->yama), q->error);

	check_form(message);
	ck_assert_msg(strstr(message, "(victim)") != NULL, "%s", message);
	ck_assert_msg(strstr(message, q->reason) != NULL,
		      "\"%s\" doesn't say \"%s\"", message, q->reason);
	ck_assert_msg(strstr(message, q->remedy) != NULL,
		      "\"%s\" doesn't say \"%s\"", message, q->remedy);
	free(message);
}

static void ask_all(const struct question *questions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ask(&questions[i]);
}

/* What /proc says is reason enough: nothing has to be tried first. */
START_TEST(before_trying)
{
	static const char traced[] = COMMON OF_ALICE MEMORY
		"State:\tt (tracing stop)\nTracerPid:\t99\n";
	static const char zombie[] = COMMON OF_ALICE
		"State:\tZ (zombie)\nTracerPid:\t0\n";
	static const char dead[] = COMMON OF_ALICE
		"State:\tX (dead)\nTracerPid:\t0\n";
	static const char thread[] = COMMON SLEEPS OF_ROOT;
	static const struct question questions[] = {
		{ traced, "gdb", ALICE, NO_YAMA, 0,
		  "already being traced by process 99 (gdb)", "end that" },
		{ traced, NULL, 0, 1, 0, "process 99", "end that" },
		{ traced, "gdb", ALICE, 1, -EPERM, "(gdb)", "end that" },
		{ zombie, NULL, ALICE, NO_YAMA, 0, "has ended", "zombie" },
		{ dead, NULL, 0, NO_YAMA, -EPERM, "has ended", "" },
		{ thread, NULL, 0, NO_YAMA, 0, "kernel thread",
		  "no library calls" },
		{ thread, NULL, ALICE, 1, -EPERM, "kernel thread", "" },
		{ thread, NULL, 0, NO_YAMA, -ERR_GONE, "has just ended", "" },
	};

	ask_all(questions, ARRAY_SIZE(questions));
}
END_TEST

START_TEST(permission)
{
	static const char roots[] = COMMON SLEEPS OF_ROOT MEMORY;
	static const struct question questions[] = {
		{ roots, NULL, ALICE, NO_YAMA, -EPERM,
		  "belongs to another user (uid 0)", "as root" },
		{ roots, NULL, ALICE, 1, -EACCES, "another user", "as root" },
		{ ALIVE, NULL, 1001, 0, -EPERM, "(uid 1000)",
		  "run calltrap as that user" },
		{ ALIVE, NULL, ALICE, NO_YAMA, -EPERM, "not dumpable",
		  "as root" },
		{ ALIVE, NULL, ALICE, 0, -EACCES, "not dumpable", "as root" },
		{ ALIVE, NULL, 0, NO_YAMA, -EPERM, "a container's settings",
		  "even to root" },
		{ roots, NULL, 0, 0, -EPERM, "a security module", "" },
	};

	ask_all(questions, ARRAY_SIZE(questions));
}
END_TEST

START_TEST(yama)
{
	static const struct question questions[] = {
		{ ALIVE, NULL, ALICE, 1, -EPERM, "ptrace_scope is 1",
		  "start the program with calltrap, or run calltrap as root" },
		{ ALIVE, NULL, ALICE, 2, -EPERM, "ptrace_scope is 2",
		  "run calltrap as root" },
		{ ALIVE, NULL, ALICE, 3, -EPERM, "ptrace_scope is 3", "" },
		{ ALIVE, NULL, 0, 3, -EPERM, "ptrace_scope is 3",
		  "until the next boot" },
	};

	ask_all(questions, ARRAY_SIZE(questions));
}
END_TEST

/* As root of a container, who has lost it. */
START_TEST(root_without_capability)
{
	const struct attach_rights own = { 0, false, 1 };
	struct procfs_status status = status_of(ALIVE);
	char *message = attach_diagnose(PID, &status, NULL, &own, -EPERM);

	check_form(message);
	ck_assert_ptr_nonnull(strstr(message, "root needs CAP_SYS_PTRACE"));
	ck_assert_ptr_nonnull(strstr(message, "--cap-add SYS_PTRACE"));
	free(message);
}
END_TEST

/* Several may hold: the message has the one that has to go first. */
START_TEST(one_reason_at_a_time)
{
	struct procfs_status status = status_of(ALIVE);
	char *message =
		attach_diagnose(PID, &status, NULL, AS(1001, 1), -EPERM);

	check_form(message);
	ck_assert_ptr_null(strstr(message, "ptrace_scope"));
	free(message);
	message = attach_diagnose(PID, &status, NULL, AS(ALICE, 1), -EPERM);
	check_form(message);
	ck_assert_ptr_null(strstr(message, "another user"));
	free(message);
}
END_TEST

START_TEST(no_reason_to_be_seen)
{
	struct procfs_status status = status_of(ALIVE);

	ck_assert_ptr_null(
		attach_diagnose(PID, &status, NULL, AS(ALICE, 0), 0));
	/* Yama may allow it (prctl); that is for PTRACE_SEIZE to say. */
	ck_assert_ptr_null(
		attach_diagnose(PID, &status, NULL, AS(ALICE, 1), 0));
	ck_assert_ptr_null(attach_diagnose(PID, &status, NULL, AS(1001, 0), 0));
}
END_TEST

START_TEST(gone_while_trying)
{
	struct procfs_status status = status_of(ALIVE);
	char *message = attach_diagnose(PID, &status, NULL, AS(ALICE, NO_YAMA),
					-ERR_GONE);

	check_form(message);
	ck_assert_ptr_nonnull(strstr(message, "ended"));
	free(message);
	message = attach_diagnose(PID, &status, NULL, AS(ALICE, NO_YAMA),
				  -ENOMEM);
	check_form(message);
	ck_assert_ptr_nonnull(strstr(message, strerror(ENOMEM)));
	free(message);
}
END_TEST

/* The kernel writes a newline in a name as two characters. */
START_TEST(name_with_newline)
{
	struct procfs_status status =
		status_of("Name:\ttwo\\nlines (x)\n" SLEEPS OF_ROOT MEMORY);
	char *message =
		attach_diagnose(PID, &status, NULL, AS(ALICE, NO_YAMA), -EPERM);

	check_form(message);
	ck_assert_ptr_nonnull(strstr(message, "(two\\nlines (x))"));
	free(message);
}
END_TEST

START_TEST(under_valgrind)
{
	static const char *const tools[] = {
		"/usr/libexec/valgrind/memcheck-amd64-linux",
		"/usr/libexec/valgrind/none-x86-linux",
		"/opt/x/lib/valgrind/massif-arm64-linux",
		"/home/a/valgrind/.in_place/dhat-amd64-linux",
	};
	static const char *const others[] = {
		"/usr/bin/valgrind.bin",
		"/usr/bin/ls-amd64-linux",
		"/usr/libexec/valgrind/memcheck",
		"/usr/libexec/notvalgrind/memcheck-amd64-linux",
		"/usr/libexec/valgrind/x/y-amd64-linux",
		"valgrind/memcheck-amd64-linux",
		"/-amd64-linux",
		"/",
		"",
	};
	char *message = translator_refuse(getpid());

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		ck_assert_msg(translator_is(tools[i]), "%s", tools[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!translator_is(others[i]), "%s", others[i]);
	ck_assert_ptr_null(message);
}
END_TEST

/* Of the real thing: attach() refuses before it does anything. */
static char *refusal(pid_t pid)
{
	struct tracer tracer = { 0 };
	char *message;

	ck_assert_int_lt(attach(&tracer, pid, &message), 0);
	ck_assert_ptr_nonnull(message);
	ck_assert_ptr_null(strchr(message, '\n'));
	ck_assert_ptr_null(tracer.tasks);
	ck_assert_ptr_null(tracer.tracees);
	return message;
}

static void check_refusal(pid_t pid, const char *reason)
{
	char *message = refusal(pid);
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)pid);
	ck_assert_msg(strstr(message, reason) != NULL, "%s", message);
	ck_assert_msg(strstr(message, number) != NULL, "%s", message);
	free(message);
}

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

START_TEST(itself)
{
	check_refusal(getpid(), "calltrap itself");
}
END_TEST

START_TEST(zombie_then_nobody)
{
	pid_t pid = fork_sleeper();
	siginfo_t info;

	kill(pid, SIGKILL);
	ck_assert(!waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	check_refusal(pid, "zombie");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	check_refusal(pid, "no process");
}
END_TEST

START_TEST(traced_by_us_already)
{
	pid_t pid = fork_sleeper();

	ck_assert(!ptrace(PTRACE_SEIZE, pid, 0, 0));
	check_refusal(pid, "already being traced by");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

static void *report_tid(void *ends)
{
	const int *fds = ends;
	pid_t tid = gettid();
	char end;

	if (write(fds[1], &tid, sizeof(tid)) != sizeof(tid))
		return NULL;
	return read(fds[2], &end, 1) ? NULL : ends;
}

START_TEST(thread)
{
	pthread_t thread;
	int fds[4];
	pid_t tid;

	ck_assert(!pipe(fds) && !pipe(fds + 2));
	ck_assert(!pthread_create(&thread, NULL, report_tid, fds));
	ck_assert_int_eq(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	check_refusal(tid, "is a thread of process");
	close(fds[3]);
	pthread_join(thread, NULL);
}
END_TEST

static Suite *attach_suite(void)
{
	Suite *suite = suite_create("attach");
	TCase *tcase = tcase_create("diagnosis");

	tcase_add_test(tcase, before_trying);
	tcase_add_test(tcase, permission);
	tcase_add_test(tcase, yama);
	tcase_add_test(tcase, root_without_capability);
	tcase_add_test(tcase, one_reason_at_a_time);
	tcase_add_test(tcase, no_reason_to_be_seen);
	tcase_add_test(tcase, gone_while_trying);
	tcase_add_test(tcase, name_with_newline);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("refusal");
	tcase_add_test(tcase, itself);
	tcase_add_test(tcase, zombie_then_nobody);
	tcase_add_test(tcase, traced_by_us_already);
	tcase_add_test(tcase, thread);
	tcase_add_test(tcase, under_valgrind);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(attach_suite());
}
