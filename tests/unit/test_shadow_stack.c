/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysdeps/linux/ptrace.h"
#include "tracee/hit.h"
#include "unit.h"

/*
 * A child calls a function that begins with a call, and one that is nothing
 * but a return. With a shadow stack (told to be there: few processors have one)
 * the processor has to do both.
 */

long begins_with_call(void);
void only_returns(void);
__asm__(".globl begins_with_call, only_returns\n"
	"begins_with_call:\n"
	"	call 1f\n"
	"	add $2, %rax\n"
	"only_returns:\n"
	"	ret\n"
	"1:	mov $40, %eax\n"
	"	ret\n");

static void on_space(struct tracer_client *client, struct space *space)
{
	(void)client;
	(void)space;
}

static void on_task(struct tracer_client *client, struct task *task)
{
	(void)client;
	(void)task;
}

static const struct tracer_client_ops client_ops = {
	.space_begin = on_space,
	.space_end = on_space,
	.task_begin = on_task,
	.task_end = on_task,
};

static unsigned hits;

static void on_hit(struct trap_owner *owner, struct task *task)
{
	(void)owner;
	(void)task;
	hits++;
}

static const struct trap_owner_ops owner_ops = { .hit = on_hit };

static NO_RETURN void run_child(void)
{
	long result;

	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	only_returns();
	result = begins_with_call();
	_exit(result == 42 ? 7 : 1);
}

static void wait_for(pid_t child, int signal)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status) && WSTOPSIG(status) == signal);
}

/* Goes on to the trap, and past it. */
static void pass_trap(struct task *task, void (*function)(void))
{
	ck_assert(!ptrace_continue(task->tid, 0));
	wait_for(task->tid, SIGTRAP);
	task->stopped = true;
	task_forget_regs(task);
	ck_assert(hit_handle(task));
	/* A copy or an emulation is still to be written; a step is done. */
	if (task->regs_known)
		ck_assert(!ptrace_set_regs(task->tid, &task->regs));
	ck_assert(trap_find(task->tracee->space, (uintptr_t)function)->planted);
}

static void run(bool shadow_stack, unsigned stepped)
{
	struct tracer_client client = { .ops = &client_ops };
	struct trap_owner owners[2] = { { .ops = &owner_ops },
					{ .ops = &owner_ops } };
	struct tracer tracer = { .client = &client };
	struct tracee *tracee;
	struct task *task;
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child)
		run_child();
	wait_for(child, SIGSTOP);
	tracee = tracee_new(&tracer, child, space_new(&tracer, child));
	task = task_new(&tracer, child, tracee);
	tracee->space->shadow_stack = shadow_stack;
	tracee->space->shadow_stack_known = true;
	hits = 0;
	ck_assert(!trap_plant(tracee->space, (uintptr_t)only_returns,
			      &owners[0]));
	ck_assert(!trap_plant(tracee->space, (uintptr_t)begins_with_call,
			      &owners[1]));
	pass_trap(task, only_returns);
	pass_trap(task, (void (*)(void))begins_with_call);
	/* Its end is the other function. */
	pass_trap(task, only_returns);
	ck_assert_uint_eq(hits, 3);
	ck_assert_uint_eq(tracer.counts.stepped, stepped);
	ck_assert(!ptrace_continue(child, 0));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	task_free(&tracer, task);
	tracee_free(&tracer, tracee);
	free(tracer.queue);
}

START_TEST(with_one)
{
	run(true, 3);
}
END_TEST

START_TEST(without)
{
	run(false, 0);
}
END_TEST

static Suite *shadow_stack_suite(void)
{
	Suite *suite = suite_create("shadow_stack");
	TCase *tcase = tcase_create("shadow_stack");

	tcase_add_test(tcase, with_one);
	tcase_add_test(tcase, without);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(shadow_stack_suite());
}
