/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quiet_client.h"
#include "tracee/evaluate.h"
#include "tracee/space.h"
#include "tracee/tracer.h"
#include "unit.h"

/* Functions are worked out for a stopped child, which has a copy of them. */

static struct tracer tracer;
static struct tracee tracee;
static struct task task;
static uint8_t stack_before[4096];

static __thread long own = 5;
static volatile long shared = 5;

#define LEAF __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef LEAF
#define LEAF __attribute__((noinline))
#endif

static LEAF long *address_of_own(void)
{
	__asm__ volatile("");
	return &own;
}

static LEAF long calls_another(void)
{
	return (long)address_of_own() + 1;
}

static LEAF long writes(void)
{
	shared = 6;
	return 1;
}

static LEAF long never_ends(void)
{
	for (;;)
		__asm__ volatile("");
	return 1;
}

static LEAF long asks_the_processor(void)
{
	__asm__ volatile("cpuid" : : "a"(0) : "rbx", "rcx", "rdx");
	return 1;
}

static void read_stack(void *ret)
{
	struct memory *memory = &tracee.space->memory.memory;

	ck_assert(!memory_read(memory, task.regs.user.rsp - 2048, ret,
			       sizeof(stack_before)));
}

static void setup(void)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	tracer = (struct tracer){ .client = &quiet_client };
	tracee =
		(struct tracee){ .pid = pid, .space = space_new(&tracer, pid) };
	tracee.space->arch = &arch_x86_64;
	task = (struct task){ .tid = pid, .tracee = &tracee, .watch = -1 };
	ck_assert_ptr_nonnull(task_regs(&task));
	read_stack(stack_before);
}

static void teardown(void)
{
	int status;

	space_put(tracee.space);
	kill(task.tid, SIGKILL);
	waitpid(task.tid, &status, 0);
}

static void check_untouched(const struct regs *before)
{
	uint8_t stack[sizeof(stack_before)];
	struct regs now;

	ck_assert(!ptrace(PTRACE_GETREGS, task.tid, 0, &now.user));
	ck_assert(!memcmp(&now, before, sizeof(now)));
	ck_assert(!memcmp(&task.regs, before, sizeof(now)));
	ck_assert(!task.regs_changed && !task.ip_changed);
	read_stack(stack);
	ck_assert(!memcmp(stack, stack_before, sizeof(stack)));
}

static int evaluate_at(const void *function, const uint64_t *argument,
		       uint64_t *ret)
{
	return evaluate_function(tracee.space, &task.regs,
				 &tracee.space->memory.memory,
				 (uintptr_t)function, argument, ret);
}

static int evaluate(const void *function, const uint64_t *argument,
		    uint64_t *ret)
{
	struct regs before = task.regs;
	int err = evaluate_at(function, argument, ret);

	check_untouched(&before);
	return err;
}

static void check_value(const void *function, uint64_t value)
{
	uint64_t found = 0;

	ck_assert_int_eq(evaluate(function, NULL, &found), 0);
	ck_assert_uint_eq(found, value);
}

START_TEST(thread_local_variables)
{
	check_value(__errno_location, (uintptr_t)&errno);
	check_value(address_of_own, (uintptr_t)&own);
}
END_TEST

START_TEST(calls)
{
	check_value(calls_another, (uintptr_t)&own + 1);
}
END_TEST

static LEAF long larger_by_two(long number)
{
	return number + 2;
}

START_TEST(an_argument)
{
	const uint64_t number = 40;
	uint64_t found = 0;

	ck_assert_int_eq(evaluate(larger_by_two, &number, &found), 0);
	ck_assert_uint_eq(found, 42);
}
END_TEST

START_TEST(below_a_trap)
{
	struct trap_owner owner = { 0 };
	uint64_t found;

	ck_assert(!trap_plant(tracee.space, (uintptr_t)address_of_own, &owner));
	ck_assert_int_eq(evaluate_at(address_of_own, NULL, &found), 0);
	ck_assert_uint_eq(found, (uintptr_t)&own);
	trap_unplant(tracee.space, (uintptr_t)address_of_own, &owner);
}
END_TEST

START_TEST(what_is_not_done)
{
	const void *const functions[] = {
		writes, never_ends, asks_the_processor, (void *)0x10, getppid,
	};
	uint64_t found = 77;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		ck_assert_msg(evaluate(functions[i], NULL, &found) < 0, "%zu",
			      i);
	ck_assert_uint_eq(found, 77);
	ck_assert_int_eq(shared, 5);
}
END_TEST

static Suite *evaluate_suite(void)
{
	Suite *suite = suite_create("evaluate");
	TCase *tcase = tcase_create("functions of a stopped task");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, thread_local_variables);
	tcase_add_test(tcase, calls);
	tcase_add_test(tcase, an_argument);
	tcase_add_test(tcase, below_a_trap);
	tcase_add_test(tcase, what_is_not_done);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(evaluate_suite());
}
