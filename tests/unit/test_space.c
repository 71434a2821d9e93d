/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quiet_client.h"
#include "tracee/leave.h"
#include "tracee/space.h"
#include "tracee/tracer.h"
#include "unit.h"

/* The test is its own tracee, or a child of it is. */

static struct tracer tracer;
static struct tracee tracee;

static void begin(pid_t pid)
{
	tracer = (struct tracer){ .client = &quiet_client };
	tracee =
		(struct tracee){ .pid = pid, .space = space_new(&tracer, pid) };
	HASH_ADD_INT(tracer.tracees, pid, &tracee);
	ck_assert_int_eq(space_bind(tracee.space), 0);
}

static void end(void)
{
	HASH_DEL(tracer.tracees, &tracee);
	space_put(tracee.space);
}

struct thread {
	sem_t has_begun;
	sem_t may_end;
	pid_t tid;
};

static void *tell_number(void *tid)
{
	*(pid_t *)tid = syscall(SYS_gettid);
	return NULL;
}

/* The number of a thread that has ended. */
static pid_t past_thread(void)
{
	pthread_t thread;
	pid_t tid;

	ck_assert_int_eq(pthread_create(&thread, NULL, tell_number, &tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	/* It can be joined a moment before the kernel has forgotten it. */
	while (!syscall(SYS_tgkill, getpid(), tid, 0))
		usleep(1000);
	return tid;
}

START_TEST(its_task_has_ended)
{
	begin(getpid());
	space_use_task(tracee.space, past_thread());
	ck_assert(!space_is_left(tracee.space));
	ck_assert_int_eq(tracee.space->memory.pid, getpid());
	end();
}
END_TEST

static void *live(void *end)
{
	struct thread *thread = end;

	thread->tid = syscall(SYS_gettid);
	sem_post(&thread->has_begun);
	sem_wait(&thread->may_end);
	return NULL;
}

START_TEST(the_leader_is_asked)
{
	struct thread thread;
	struct task newest = { .next = NULL };
	pthread_t id;

	sem_init(&thread.has_begun, 0, 0);
	sem_init(&thread.may_end, 0, 0);
	ck_assert_int_eq(pthread_create(&id, NULL, live, &thread), 0);
	sem_wait(&thread.has_begun);
	newest.tid = thread.tid;
	begin(getpid());
	tracee.tasks = &newest;
	/* Another process that had it is gone. */
	space_put(space_get(tracee.space));
	ck_assert_int_eq(tracee.space->memory.pid, getpid());
	end();
	sem_post(&thread.may_end);
	pthread_join(id, NULL);
}
END_TEST

START_TEST(all_have_ended)
{
	pid_t child = fork();

	if (!child)
		_exit(pause());
	begin(child);
	ck_assert(!space_is_left(tracee.space));
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert(space_is_left(tracee.space));
	end();
}
END_TEST

START_TEST(another_program_runs)
{
	int ends[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[1]);
		(void)!read(ends[0], &c, 1);
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	begin(child);
	ck_assert(!space_is_left(tracee.space));
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	while (!space_is_left(tracee.space))
		usleep(1000);
	end();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* To look for mounts takes memory, which may be what there is none of. */
#define READS 5000

START_TEST(nothing_is_looked_for_in_need)
{
	struct procmem *memory;
	uint8_t byte = 1, found;
	int i;

	begin(getpid());
	leave_in_need(&tracer);
	memory = &tracee.space->memory;
	for (i = 0; i < READS; i++) {
		ck_assert_int_eq(memory_read(&memory->memory,
					     (taddr_t)(uintptr_t)&byte, &found,
					     1),
				 0);
		ck_assert_uint_eq(memory->reads, UINT_MAX - 1 - i);
	}
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("space");
	TCase *tcase = tcase_create("whose memory it is");

	tcase_add_test(tcase, its_task_has_ended);
	tcase_add_test(tcase, the_leader_is_asked);
	tcase_add_test(tcase, all_have_ended);
	tcase_add_test(tcase, another_program_runs);
	tcase_add_test(tcase, nothing_is_looked_for_in_need);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
