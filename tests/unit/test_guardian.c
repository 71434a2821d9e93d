/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sysdeps/linux/procfs.h"
#include "tracee/guardian.h"
#include "tracee/patch.h"
#include "unit.h"

/*
 * Three processes: a victim, in whose memory int3s are planted; one that
 * plants them as calltrap would, and ends in many ways; and its guardian,
 * which comes to the test as an orphan, so that its end can be waited for.
 */

#define PAGE        4096u
#define INT3        0xcc
#define ORIGINAL(i) ((uint8_t)((i) % 199))

static uint8_t *code;
static pid_t victim;

/* Its copy of the memory is as things are now. */
static void beget(int signal)
{
	(void)signal;
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void run_victim(void)
{
	/* Where only descendants may be written to (Yama). */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void setup(void)
{
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	for (unsigned i = 0; i < PAGE; i++)
		code[i] = ORIGINAL(i);
	ck_assert(!mprotect(code, PAGE, PROT_READ | PROT_EXEC));
	ck_assert(!prctl(PR_SET_CHILD_SUBREAPER, 1));
	signal(SIGUSR1, beget); /* from its begin on */
	victim = fork();
	ck_assert_int_ge(victim, 0);
	if (!victim)
		run_victim();
}

static void teardown(void)
{
	kill(victim, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	munmap(code, PAGE);
}

/* ---- in the process that is to be killed ---- */

struct planter {
	struct guardian *guardian;
	int mem;
	int space;
};

static void must(bool condition)
{
	if (!condition)
		_exit(99);
}

/*
 * Returns when the guardian has taken notice of what it was told: a space was
 * added and dropped that holds the last end of a pipe.
 */
static void settle(struct planter *p)
{
	int ends[2], space;
	char word;

	must(!pipe2(ends, O_CLOEXEC));
	space = guardian_add_space(p->guardian, victim, ends[1]);
	must(space >= 0);
	close(ends[1]);
	guardian_drop_space(p->guardian, space);
	must(read(ends[0], &word, 1) == 0);
	close(ends[0]);
}

static void planter_init(struct planter *p)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)victim);
	p->mem = open(path, O_RDWR | O_CLOEXEC);
	must(p->mem >= 0);
	p->guardian = guardian_start();
	must(p->guardian != NULL);
	p->space = guardian_add_space(p->guardian, victim, p->mem);
	must(p->space >= 0);
	settle(p);
}

static int plant(struct planter *p, unsigned at)
{
	static const uint8_t int3 = INT3;
	taddr_t address = (uintptr_t)code + at;
	int note =
		guardian_note(p->guardian, p->space, address, ORIGINAL(at), 1);

	must(note >= 0);
	must(pwrite(p->mem, &int3, 1, address) == 1);
	return note;
}

static void lift(struct planter *p, unsigned at, int note)
{
	const uint8_t original = ORIGINAL(at);

	must(pwrite(p->mem, &original, 1, (uintptr_t)code + at) == 1);
	guardian_unnote(p->guardian, note);
}

static void plant_range(struct planter *p, unsigned from, unsigned to)
{
	while (from < to)
		(void)plant(p, from++);
}

/* ---- in the test ---- */

static uint8_t seen[PAGE];

static void look(pid_t pid)
{
	struct iovec local = { seen, PAGE }, remote = { code, PAGE };

	ck_assert_int_eq(process_vm_readv(pid, &local, 1, &remote, 1, 0), PAGE);
}

/* int3s from from to to, and nowhere else. */
static void check(pid_t pid, unsigned from, unsigned to)
{
	look(pid);
	for (unsigned i = 0; i < PAGE; i++) {
		uint8_t expected = i >= from && i < to ? INT3 : ORIGINAL(i);

		ck_assert_msg(seen[i] == expected, "%#x at %u, not %#x",
			      seen[i], i, expected);
	}
}

static void check_victim(unsigned from, unsigned to)
{
	check(victim, from, to);
}

/*
 * Runs body in a process of its own until it says that all is planted;
 * there it stays.
 */
static pid_t start(void (*body)(struct planter *))
{
	int ready[2];
	pid_t pid;
	char word;

	ck_assert(!pipe(ready));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct planter planter;

		close(ready[0]);
		planter_init(&planter);
		body(&planter);
		must(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &word, 1), 1);
	close(ready[0]);
	return pid;
}

/* Whoever ends next; the victim never does. */
static void expect_guardian_end(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	ck_assert_int_gt(pid, 0);
	ck_assert_int_ne(pid, victim);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void end(pid_t pid, int signal)
{
	int status;

	kill(pid, signal);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == signal);
	expect_guardian_end();
}

static void plant_some(struct planter *p)
{
	plant_range(p, 100, 200);
}

START_TEST(killed)
{
	pid_t pid = start(plant_some);

	check_victim(100, 200);
	end(pid, SIGKILL);
	check_victim(0, 0);
}
END_TEST

START_TEST(crashed)
{
	pid_t pid = start(plant_some);

	end(pid, SIGXCPU);
	check_victim(0, 0);
}
END_TEST

/* exit() without a word to the guardian is a death like others. */
START_TEST(exited)
{
	struct planter planter;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		planter_init(&planter);
		plant_some(&planter);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	expect_guardian_end();
	check_victim(0, 0);
}
END_TEST

static void plant_and_dismiss(struct planter *p)
{
	plant_range(p, 100, 200);
	guardian_dismiss(p->guardian);
}

/* What is there then is there on purpose. */
START_TEST(dismissed)
{
	pid_t pid = start(plant_and_dismiss);

	expect_guardian_end();
	check_victim(100, 200);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	check_victim(100, 200);
}
END_TEST

static void change_behind_its_back(struct planter *p)
{
	static const uint8_t other = 0x55;
	int note;

	plant_range(p, 301, 302);
	note = plant(p, 300);
	lift(p, 300, note);
	must(pwrite(p->mem, &other, 1, (uintptr_t)code + 300) == 1);
}

START_TEST(lifted_before)
{
	pid_t pid = start(change_behind_its_back);

	end(pid, SIGKILL);
	look(victim);
	ck_assert_uint_eq(seen[300], 0x55);
	ck_assert_uint_eq(seen[301], ORIGINAL(301));
}
END_TEST

/* Other code has been mapped where an int3 was. */
static void map_behind_its_back(struct planter *p)
{
	static const uint8_t other = 0x55;

	plant_range(p, 300, 303);
	must(pwrite(p->mem, &other, 1, (uintptr_t)code + 301) == 1);
}

START_TEST(changed_since)
{
	pid_t pid = start(map_behind_its_back);

	end(pid, SIGKILL);
	look(victim);
	ck_assert_uint_eq(seen[300], ORIGINAL(300));
	ck_assert_uint_eq(seen[301], 0x55);
	ck_assert_uint_eq(seen[302], ORIGINAL(302));
}
END_TEST

/* More than there is room for, if notes were not used again. */
static void come_and_go(struct planter *p)
{
	int notes[16];

	for (unsigned i = 0; i < (1u << 20) / 8; i++) {
		for (unsigned j = 0; j < ARRAY_SIZE(notes); j++) {
			notes[j] =
				guardian_note(p->guardian, p->space, i, 0, 1);
			must(notes[j] >= 0 && notes[j] < 1024);
		}
		for (unsigned j = 0; j < ARRAY_SIZE(notes); j++)
			guardian_unnote(p->guardian, notes[j]);
	}
	plant_range(p, 0, PAGE);
	for (unsigned i = 0; i < ARRAY_SIZE(notes); i++)
		notes[i] = plant(p, i);
	for (unsigned i = 0; i < ARRAY_SIZE(notes); i++)
		for (unsigned j = 0; j < i; j++)
			must(notes[i] != notes[j]);
}

START_TEST(notes_used_again)
{
	pid_t pid = start(come_and_go);

	check_victim(0, PAGE);
	end(pid, SIGKILL);
	check_victim(0, 0);
}
END_TEST

static void use_up_notes(struct planter *p)
{
	int note, last = -1;

	plant_range(p, 0, 64);
	while ((note = guardian_note(p->guardian, p->space, 0, 0, 1)) >= 0)
		last = note;
	must(last > 100000);
	guardian_unnote(p->guardian, last);
	must(plant(p, 64) == last);
	must(guardian_note(p->guardian, p->space, 0, 0, 1) == -1);
}

START_TEST(notes_used_up)
{
	pid_t pid = start(use_up_notes);

	end(pid, SIGKILL);
	check_victim(0, 0);
}
END_TEST

static void drop_space(struct planter *p)
{
	int other = guardian_add_space(p->guardian, victim, p->mem);

	must(other >= 0 && other != p->space);
	plant_range(p, 0, 50);
	guardian_drop_space(p->guardian, p->space);
	p->space = other;
	plant_range(p, 50, 100);
	guardian_drop_space(p->guardian, -1);
	settle(p);
}

static const uint8_t jump[] = { 0xe9, 1, INT3, 3, 4 };

/* Of which there is one copy, of the instruction that begins at the int3. */
static void note_patch(struct planter *p, int note, unsigned at, taddr_t copy)
{
	struct patch patch = { .places[2] = copy };

	for (unsigned i = 0; i < PATCH_SIZE; i++)
		patch.before[i] = ORIGINAL(at + i);
	memcpy(patch.after, jump, PATCH_SIZE);
	guardian_note_patch(p->guardian, note, (uintptr_t)code + at, &patch);
}

/* What is behind the trap is being written to; and a jump that is whole. */
static void write_jumps(struct planter *p)
{
	static const uint8_t tail[] = { 1, 2, 3, 4 };
	int note = plant(p, 8);

	note_patch(p, note, 8, 0);
	must(pwrite(p->mem, tail, sizeof(tail), (uintptr_t)code + 9) ==
	     sizeof(tail));
	note = plant(p, 32);
	note_patch(p, note, 32, 0);
	must(pwrite(p->mem, jump, sizeof(jump), (uintptr_t)code + 32) ==
	     sizeof(jump));
}

START_TEST(jumps_are_whole_or_gone)
{
	pid_t pid = start(write_jumps);

	end(pid, SIGKILL);
	look(victim);
	for (unsigned i = 0; i < 32; i++)
		ck_assert_uint_eq(seen[i], ORIGINAL(i));
	ck_assert_mem_eq(seen + 32, jump, PATCH_SIZE);
}
END_TEST

/* A space that was left, or is gone, is nobody's to write to. */
START_TEST(dropped_space)
{
	pid_t pid = start(drop_space);

	end(pid, SIGKILL);
	check_victim(0, 50);
}
END_TEST

static void plant_some_in_a_task(struct planter *p)
{
	plant_some(p);
	must(guardian_add_task(p->guardian, victim, victim) >= 0);
}

static void note_child(void *context, pid_t child)
{
	*(pid_t *)context = child;
}

/* Nobody has told the guardian of it. */
START_TEST(children_have_none)
{
	pid_t pid = start(plant_some_in_a_task), child = 0;

	ck_assert_int_eq(kill(victim, SIGUSR1), 0);
	while (!child)
		procfs_visit_children(victim, note_child, &child);
	check(child, 100, 200);
	end(pid, SIGKILL);
	check_victim(0, 0);
	check(child, 0, 0);
}
END_TEST

static void drop_and_add(struct planter *p)
{
	int old = p->space;

	guardian_drop_space(p->guardian, old);
	p->space = guardian_add_space(p->guardian, victim, p->mem);
	must(p->space == old);
	settle(p);
	plant_range(p, 0, 10);
	must(guardian_note(p->guardian, -1, 0, 0, 1) == -1);
}

START_TEST(space_number_used_again)
{
	pid_t pid = start(drop_and_add);

	end(pid, SIGKILL);
	check_victim(0, 0);
}
END_TEST

/* The victim dies first: its guardian must not wait for anything. */
START_TEST(victim_gone)
{
	pid_t pid = start(plant_some);

	kill(victim, SIGKILL);
	ck_assert_int_eq(waitpid(victim, NULL, 0), victim);
	end(pid, SIGKILL);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
}
END_TEST

static bool is_guardian(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%31s", name) != 1)
		*name = '\0';
	if (file)
		fclose(file);
	return !strcmp(name, "ctrap-guardian");
}

/* It has become a child of the test, as its parent has. */
static pid_t find_guardian(pid_t parent)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
		 (int)parent);
	file = fopen(path, "r");
	must(file != NULL);
	while (fscanf(file, "%d", &pid) == 1)
		if (is_guardian(pid))
			break;
	fclose(file);
	return pid;
}

/* More orders than a socket has room for. */
static void go_on_without(struct planter *p)
{
	pid_t guardian = find_guardian(getppid());

	must(!kill(guardian, SIGSTOP));
	for (unsigned i = 0; i < 4000; i++)
		guardian_drop_space(p->guardian,
				    guardian_add_space(p->guardian, victim,
						       p->mem));
	must(guardian_add_space(p->guardian, victim, p->mem) == -1);
	must(!kill(guardian, SIGCONT));
}

START_TEST(stopped_it_keeps_nobody_waiting)
{
	end(start(go_on_without), SIGKILL);
}
END_TEST

/* ---- tasks ---- */

/* It was resumed just now: the guardian will stop it first. */
static void add_victim(struct planter *p)
{
	int place = guardian_add_task(p->guardian, victim, victim);

	must(place >= 0);
	guardian_mark_resumed(p->guardian, place);
}

/* As one that dies and gets no processor: all but the tracing ends. */
static void die_slowly(struct planter *p)
{
	must(!ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	add_victim(p);
	execlp("sleep", "sleep", "3", (char *)NULL);
	must(false);
}

START_TEST(slow_to_die)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct planter planter;

		planter_init(&planter);
		die_slowly(&planter);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	expect_guardian_end();
	ck_assert_int_eq(waitpid(victim, NULL, WNOHANG), 0);
	ck_assert_int_eq(procfs_tracer(victim), 0);
	ck_assert_int_ne(procfs_state(victim), 'T');
}
END_TEST

static void die_when_killed(struct planter *p)
{
	must(!ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	add_victim(p);
	execlp("sleep", "sleep", "1000", (char *)NULL);
	must(false);
}

static void await_state(pid_t pid, char state)
{
	while (procfs_state(pid) != state)
		usleep(1000);
}

/* It has sent its SIGSTOP by then, and waits for the end of the dying one. */
START_TEST(killed_as_well)
{
	pid_t pid = fork(), guardian;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct planter planter;

		planter_init(&planter);
		die_when_killed(&planter);
	}
	await_state(victim, 't');
	guardian = find_guardian(getpid());
	kill(guardian, SIGKILL);
	ck_assert_int_eq(waitpid(guardian, NULL, 0), guardian);
	ck_assert_int_eq(procfs_state(victim), 't');
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* It rests as before. If it stopped, that would be for ever. */
	await_state(victim, 'S');
	ck_assert_int_eq(procfs_tracer(victim), 0);
}
END_TEST

/* It can't be put back, and has to die: it must not stay stopped instead. */
START_TEST(traced_by_another)
{
	pid_t pid = start(add_victim);
	int status;

	ck_assert(!ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert(WIFSTOPPED(status));
	expect_guardian_end();
	ck_assert(!ptrace(PTRACE_DETACH, victim, NULL, WSTOPSIG(status)));
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}
END_TEST

#ifdef __x86_64__

/* Where it goes on in a copy of what a jump stands over: exit_group(42). */
__asm__(".text\narrive:\n\tmov $42, %edi\n\tmov $231, %eax\n\tsyscall\n");
extern char arrive[];

static void set_victim(taddr_t ip)
{
	struct user_regs_struct regs;

	must(!ptrace(PTRACE_GETREGS, victim, NULL, &regs));
	regs.rip = ip;
	regs.orig_rax = (unsigned long long)-1; /* pause() is over */
	must(!ptrace(PTRACE_SETREGS, victim, NULL, &regs));
}

static void stop_victim(void)
{
	int status;

	must(!ptrace(PTRACE_SEIZE, victim, NULL, NULL));
	must(!ptrace(PTRACE_INTERRUPT, victim, NULL, NULL));
	must(waitpid(victim, &status, 0) == victim && WIFSTOPPED(status));
}

#define JUMP_AT 32

static void jump_over_victim(struct planter *p)
{
	const int note = plant(p, JUMP_AT);

	note_patch(p, note, JUMP_AT, (uintptr_t)arrive);
	must(pwrite(p->mem, jump, sizeof(jump), (uintptr_t)code + JUMP_AT) ==
	     sizeof(jump));
	stop_victim();
	add_victim(p);
	set_victim((uintptr_t)code + JUMP_AT + 2);
}

/* It stands there when calltrap is killed. */
static void leave_within(struct planter *p)
{
	jump_over_victim(p);
}

/* … has run into that byte, and calltrap knows. */
static void leave_behind(struct planter *p)
{
	int status;

	jump_over_victim(p);
	must(!ptrace(PTRACE_CONT, victim, NULL, NULL));
	must(waitpid(victim, &status, 0) == victim && WIFSTOPPED(status) &&
	     WSTOPSIG(status) == SIGTRAP);
	guardian_mark_task(p->guardian, 0, true);
}

static void (*const within[])(struct planter *) = { leave_within,
						    leave_behind };

static bool is_to_stop(pid_t pid)
{
	struct procfs_status status;

	return !procfs_status(pid, &status) &&
	       status.signals_pending & 1ull << (SIGSTOP - 1);
}

/* Killed when the guardian has done the first that it does then. */
START_TEST(who_is_within_a_jump_goes_on)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct planter planter;

		planter_init(&planter);
		within[_i](&planter);
		execlp("sleep", "sleep", "1000", (char *)NULL);
		must(false);
	}
	while (!is_to_stop(victim))
		usleep(1000);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 42,
		      "its status is %#x", status);
	expect_guardian_end();
}
END_TEST

#endif

/*
 * Stopped for long: the guardian lifts what it isn't writing behind just then,
 * and it may not begin to any more when it goes on.
 */
static void be_stopped(struct planter *p)
{
	const int lifted = plant(p, 100), written = plant(p, 200);

	signal(GUARDIAN_LIFTED, SIG_IGN);
	add_victim(p);
	must(guardian_begin_writing(p->guardian, written));
	must(!raise(SIGSTOP)); /* the guardian sends SIGCONT */
	must(!guardian_begin_writing(p->guardian, lifted));
	guardian_end_writing(p->guardian, written);
	must(guardian_begin_writing(p->guardian, written));
	guardian_end_writing(p->guardian, written);
}

START_TEST(nobody_writes_where_it_lifts)
{
	pid_t pid = start(be_stopped);

	check_victim(200, 201);
	end(pid, SIGKILL);
	check_victim(0, 0);
}
END_TEST

START_TEST(nobody)
{
	guardian_dismiss(NULL);
	ck_assert_int_eq(guardian_add_space(NULL, 0, 0), -1);
	ck_assert_int_eq(guardian_note(NULL, 0, 0, 0, 1), -1);
	guardian_unnote(NULL, 0);
	ck_assert(guardian_begin_writing(NULL, 0));
	guardian_end_writing(NULL, 0);
	guardian_drop_space(NULL, 0);
}
END_TEST

static Suite *guardian_suite(void)
{
	Suite *suite = suite_create("guardian");
	TCase *tcase = tcase_create("guardian");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, killed);
	tcase_add_test(tcase, crashed);
	tcase_add_test(tcase, exited);
	tcase_add_test(tcase, dismissed);
	tcase_add_test(tcase, lifted_before);
	tcase_add_test(tcase, changed_since);
	tcase_add_test(tcase, notes_used_again);
	tcase_add_test(tcase, notes_used_up);
	tcase_add_test(tcase, jumps_are_whole_or_gone);
	tcase_add_test(tcase, dropped_space);
	tcase_add_test(tcase, children_have_none);
	tcase_add_test(tcase, space_number_used_again);
	tcase_add_test(tcase, victim_gone);
	tcase_add_test(tcase, stopped_it_keeps_nobody_waiting);
	tcase_add_test(tcase, slow_to_die);
	tcase_add_test(tcase, killed_as_well);
	tcase_add_test(tcase, traced_by_another);
#ifdef __x86_64__
	tcase_add_loop_test(tcase, who_is_within_a_jump_goes_on, 0,
			    ARRAY_SIZE(within));
#endif
	tcase_add_test(tcase, nobody_writes_where_it_lifts);
	tcase_add_test(tcase, nobody);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(guardian_suite());
}
