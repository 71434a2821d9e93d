/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quiet_client.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/passing.h"
#include "tracee/space.h"
#include "tracee/tracer.h"
#include "unit.h"

/* The test is its own tracee: three pages of code that it never runs into. */

#define PAGE 4096u
#define SIZE (3 * PAGE)
#define NOP  0x90
#define INT3 0xcc

static struct tracer tracer;
static struct space *space;
static uint8_t *code;
static uint8_t before[SIZE];

/* lea 7(%rdi), %eax; ret */
#define FUNCTION 0x40
static const uint8_t function[] = { 0x8d, 0x47, 0x07, 0xc3 };

/* As code mostly is, it isn't writable while traps are planted. */
static void protect(int protection)
{
	ck_assert(!mprotect(code, SIZE, protection));
}

static void setup(void)
{
	code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	memset(code, NOP, SIZE);
	memcpy(code + FUNCTION, function, sizeof(function));
	memcpy(before, code, SIZE);
	protect(PROT_READ | PROT_EXEC);
	tracer = (struct tracer){ .client = &quiet_client };
	space = space_new(&tracer, getpid());
}

static void teardown(void)
{
	space_put(space);
	munmap(code, SIZE);
}

static void poke(size_t at, const void *bytes, size_t n)
{
	protect(PROT_READ | PROT_WRITE);
	memcpy(code + at, bytes, n);
	protect(PROT_READ | PROT_EXEC);
}

static taddr_t address(size_t at)
{
	return (uintptr_t)code + at;
}

static struct trap *trap_at(size_t at)
{
	return trap_find(space, address(at));
}

/* int3 at the given offsets, and all else as it was. */
static void check_code(const uint8_t *now, const size_t *traps, size_t count)
{
	uint8_t expected[SIZE];

	memcpy(expected, before, SIZE);
	for (size_t i = 0; i < count; i++)
		expected[traps[i]] = INT3;
	for (size_t i = 0; i < SIZE; i++)
		ck_assert_msg(now[i] == expected[i], "%#x at %#zx, not %#x",
			      now[i], i, expected[i]);
}

#define CHECK_TRAPS(...)                              \
	do {                                          \
		const size_t at[] = { __VA_ARGS__ };  \
		check_code(code, at, ARRAY_SIZE(at)); \
	} while (0)
#define CHECK_UNTOUCHED() check_code(code, NULL, 0)

static void plant(size_t at, struct trap_owner *owner)
{
	ck_assert_int_eq(trap_plant(space, address(at), owner), 0);
}

static void unplant(size_t at, struct trap_owner *owner)
{
	trap_unplant(space, address(at), owner);
}

START_TEST(planted_and_lifted)
{
	struct trap_owner owner = { 0 };

	plant(FUNCTION, &owner);
	CHECK_TRAPS(FUNCTION);
	ck_assert(trap_at(FUNCTION)->planted);
	ck_assert_uint_eq(trap_at(FUNCTION)->original, function[0]);
	ck_assert_uint_eq(trap_at(FUNCTION)->insn.length, 3);
	ck_assert_ptr_eq(trap_at(FUNCTION)->owners, &owner);
	ck_assert_ptr_null(trap_at(FUNCTION + 1));
	unplant(FUNCTION, &owner);
	CHECK_UNTOUCHED();
	/* Remembered: a process that was forked may have a copy. */
	ck_assert_ptr_nonnull(trap_at(FUNCTION));
	ck_assert(!trap_at(FUNCTION)->planted);
	plant(FUNCTION, &owner);
	CHECK_TRAPS(FUNCTION);
}
END_TEST

START_TEST(owners)
{
	struct trap_owner a = { 0 }, b = { 0 }, c = { 0 }, stranger = { 0 };

	plant(8, &a);
	plant(8, &b);
	plant(8, &c);
	CHECK_TRAPS(8);
	unplant(8, &stranger);
	unplant(9, &a);
	unplant(8, &b);
	CHECK_TRAPS(8);
	ck_assert_ptr_eq(trap_at(8)->owners, &c);
	ck_assert_ptr_eq(c.next, &a);
	ck_assert_ptr_null(a.next);
	unplant(8, &a);
	CHECK_TRAPS(8);
	unplant(8, &c);
	CHECK_UNTOUCHED();
	unplant(8, &c);
	CHECK_UNTOUCHED();
}
END_TEST

/* A debugger, or the program itself, was here first. */
START_TEST(foreign_int3)
{
	static const uint8_t int3 = INT3;
	struct trap_owner owner = { 0 };

	poke(16, &int3, 1);
	before[16] = INT3;
	ck_assert_int_eq(trap_plant(space, address(16), &owner), -EEXIST);
	ck_assert_ptr_null(trap_at(16));
	CHECK_UNTOUCHED();
	plant(15, &owner);
	CHECK_TRAPS(15);
	unplant(15, &owner);
	CHECK_UNTOUCHED();
}
END_TEST

START_TEST(places_that_cannot_be_trapped)
{
	static const uint8_t invalid = 0x06;
	struct trap_owner owner = { 0 };
	void *shared =
		mmap(NULL, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	poke(24, &invalid, 1);
	before[24] = invalid;
	ck_assert_int_eq(trap_plant(space, address(24), &owner), -EILSEQ);
	ck_assert_int_eq(trap_plant(space, 0x10, &owner), -EIO);
	ck_assert_int_eq(trap_plant(space, UINT64_MAX, &owner), -EIO);
	ck_assert_int_eq(trap_plant(space, (uintptr_t)shared, &owner), -EIO);
	ck_assert_ptr_null(space->traps);
	CHECK_UNTOUCHED();
	munmap(shared, PAGE);
}
END_TEST

/* Relocations, or the program itself, may change the code meanwhile. */
START_TEST(code_that_changed)
{
	static const uint8_t push[] = { 0x6a, 0x01 };
	struct trap_owner owner = { 0 };

	plant(32, &owner);
	unplant(32, &owner);
	poke(32, push, sizeof(push));
	memcpy(before + 32, push, sizeof(push));
	plant(32, &owner);
	ck_assert_uint_eq(trap_at(32)->original, push[0]);
	ck_assert_uint_eq(trap_at(32)->insn.length, 2);
	unplant(32, &owner);
	CHECK_UNTOUCHED();
}
END_TEST

/* An instruction is decoded as it is without the traps within it. */
START_TEST(trap_within_an_instruction)
{
	static const uint8_t mov[] = { 0xb8, 0x90, 0x90, 0x90, 0x90 };
	struct trap_owner inner = { 0 }, outer = { 0 };

	poke(48, mov, sizeof(mov));
	memcpy(before + 48, mov, sizeof(mov));
	plant(50, &inner);
	plant(48, &outer);
	CHECK_TRAPS(48, 50);
	ck_assert_uint_eq(trap_at(48)->insn.length, sizeof(mov));
	ck_assert_mem_eq(trap_at(48)->insn.bytes, mov, sizeof(mov));
	unplant(48, &outer);
	unplant(50, &inner);
	CHECK_UNTOUCHED();
}
END_TEST

START_TEST(hidden_from_readers)
{
	static const uint8_t int3 = INT3;
	struct trap_owner owners[3] = { 0 };
	uint8_t read[64];

	poke(20, &int3, 1);
	before[20] = INT3;
	plant(0, &owners[0]);
	plant(10, &owners[1]);
	plant(63, &owners[2]);
	memcpy(read, code, sizeof(read));
	trap_hide(space, address(0), read, sizeof(read));
	ck_assert_mem_eq(read, before, sizeof(read));
	/* What begins behind a trap, or ends before one. */
	memcpy(read, code + 11, 52);
	trap_hide(space, address(11), read, 52);
	ck_assert_mem_eq(read, before + 11, 52);
	/* The program has written an int3 where ours was lifted. */
	unplant(10, &owners[1]);
	poke(10, &int3, 1);
	memcpy(read, code, sizeof(read));
	trap_hide(space, address(0), read, sizeof(read));
	ck_assert_uint_eq(read[10], INT3);
	ck_assert_uint_eq(read[63], NOP);
}
END_TEST

START_TEST(all_lifted)
{
	struct trap_owner owners[SIZE / 64] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		plant(64 * i, &owners[i]);
	ck_assert_uint_eq(HASH_COUNT(space->traps), ARRAY_SIZE(owners));
	trap_lift_all(space);
	CHECK_UNTOUCHED();
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		ck_assert(!trap_at(64 * i)->planted);
		ck_assert_ptr_eq(trap_at(64 * i)->owners, &owners[i]);
	}
}
END_TEST

/* Something else may live there by now: nothing is written. */
/* Who plants them has got no processor for longer than a slice. */
START_TEST(few_at_once)
{
	struct trap_owner owners[100] = { { 0 } };

	trap_defer(space);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		plant(8 * i, &owners[i]);
	CHECK_UNTOUCHED();
	trap_plant_in_slices(space);
	CHECK_UNTOUCHED();
	ck_assert(!trap_plant_slice(space, 0));
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		ck_assert(trap_at(8 * i)->planted);
		unplant(8 * i, &owners[i]);
	}
	CHECK_UNTOUCHED();
}
END_TEST

START_TEST(many_in_slices)
{
	struct trap_owner owners[1000] = { { 0 } };
	size_t slices = 0;

	trap_defer(space);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		plant(8 * i, &owners[i]);
	trap_plant_in_slices(space);
	while (trap_plant_slice(space, 0))
		slices++;
	ck_assert_uint_ge(slices, 2);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		ck_assert(trap_at(8 * i)->planted);
		unplant(8 * i, &owners[i]);
	}
	CHECK_UNTOUCHED();
}
END_TEST

/* Whoever waits for late tasks goes on running the loop, slices and all. */
START_TEST(lifted_before_the_first_slice)
{
	struct trap_owner owners[10] = { { 0 } };

	trap_defer(space);
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		plant(8 * i, &owners[i]);
	trap_plant_in_slices(space);
	trap_lift_all(space);
	ck_assert(!trap_plant_slice(space, 0));
	CHECK_UNTOUCHED();
	for (size_t i = 0; i < ARRAY_SIZE(owners); i++)
		unplant(8 * i, &owners[i]);
}
END_TEST

START_TEST(forgotten_range)
{
	struct trap_owner owners[4] = { 0 };

	plant(PAGE - 1, &owners[0]);
	plant(PAGE, &owners[1]);
	plant(2 * PAGE - 1, &owners[2]);
	plant(2 * PAGE, &owners[3]);
	trap_forget_range(space, address(PAGE), address(2 * PAGE));
	CHECK_TRAPS(PAGE - 1, PAGE, 2 * PAGE - 1, 2 * PAGE);
	ck_assert_ptr_null(trap_at(PAGE));
	ck_assert_ptr_null(trap_at(2 * PAGE - 1));
	unplant(PAGE, &owners[1]);
	unplant(PAGE - 1, &owners[0]);
	unplant(2 * PAGE, &owners[3]);
	CHECK_TRAPS(PAGE, 2 * PAGE - 1);
}
END_TEST

/* ---- a child's copy ---- */

static pid_t fork_copy(struct procmem *ret)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		for (;;)
			pause();
	}
	procmem_init(ret, pid);
	return pid;
}

static void end_copy(pid_t pid, struct procmem *child)
{
	procmem_fini(child);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void check_copy(struct procmem *child)
{
	uint8_t copy[SIZE];

	ck_assert(!memory_read(&child->memory, address(0), copy, SIZE));
	check_code(copy, NULL, 0);
}

START_TEST(copy_cleaned)
{
	struct trap_owner owners[6] = { 0 };
	struct procmem child;
	pid_t pid;

	plant(0, &owners[0]);
	plant(PAGE - 1, &owners[1]);
	plant(PAGE, &owners[2]);
	plant(2 * PAGE + 5, &owners[3]);
	plant(SIZE - 1, &owners[4]);
	plant(100, &owners[5]);
	pid = fork_copy(&child);
	/* Lifted since: the child has it still. */
	unplant(100, &owners[5]);
	ck_assert_int_eq(trap_clean_copy(space, &child, 0), 0);
	check_copy(&child);
	CHECK_TRAPS(0, PAGE - 1, PAGE, 2 * PAGE + 5, SIZE - 1);
	end_copy(pid, &child);
}
END_TEST

/* What the child has where we had no trap yet is its own affair. */
START_TEST(copy_made_before)
{
	static const uint8_t int3 = INT3;
	struct trap_owner owner = { 0 };
	struct procmem child;
	pid_t pid = fork_copy(&child);

	poke(200, &int3, 1);
	plant(300, &owner);
	ck_assert_int_eq(trap_clean_copy(space, &child, 0), 0);
	check_copy(&child);
	end_copy(pid, &child);
}
END_TEST

START_TEST(copy_that_died)
{
	struct trap_owner owner = { 0 };
	struct procmem child;
	pid_t pid;

	plant(0, &owner);
	pid = fork_copy(&child);
	ck_assert_int_ge(procmem_fd(&child), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* It has no memory any more; how that is told doesn't matter. */
	ck_assert_int_le(trap_clean_copy(space, &child, 0), 0);
	CHECK_TRAPS(0);
	procmem_fini(&child);
}
END_TEST

/* ---- copies of instructions ---- */

#define AREA (2 * PAGE + 256)

static int call(taddr_t at, int argument)
{
	return ((int (*)(int))(uintptr_t)at)(argument);
}

START_TEST(copy_of_instruction)
{
	struct trap_owner owner = { 0 };
	bool done = true;
	taddr_t copy, ip;

	plant(FUNCTION, &owner);
	scratch_add_area(space, address(AREA), 256);
	copy = scratch_copy_of(space, trap_at(FUNCTION));
	ck_assert(copy >= address(AREA) && copy < address(AREA + 256));
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(FUNCTION)), copy);
	ck_assert_mem_eq((uint8_t *)(uintptr_t)copy, function, 3);
	/* It does what the function does, whose first byte is an int3. */
	ck_assert_int_eq(call(copy, 35), 42);
	ck_assert(scratch_resolve_ip(space, copy, &ip, &done));
	ck_assert(!done && ip == address(FUNCTION));
	ck_assert(scratch_resolve_ip(space, copy + 3, &ip, &done));
	ck_assert(done && ip == address(FUNCTION + 3));
	ck_assert(!scratch_resolve_ip(space, copy - 1, &ip, &done));
	ck_assert(!scratch_resolve_ip(space, copy + 1, &ip, &done));
	ck_assert(!scratch_resolve_ip(space, address(0), &ip, &done));
	ck_assert(!scratch_resolve_ip(space, address(SIZE), &ip, &done));
	scratch_restore(space);
	CHECK_TRAPS(FUNCTION);
	ck_assert(!scratch_resolve_ip(space, copy, &ip, &done));
}
END_TEST

START_TEST(no_room_for_copies)
{
	struct trap_owner owners[8] = { 0 };
	unsigned placed = 0;

	scratch_add_area(space, address(AREA), INSN_COPY_MAX - 1);
	plant(0, &owners[0]);
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(0)), 0);
	ck_assert(trap_at(0)->copy_failed);
	CHECK_TRAPS(0);
	scratch_add_area(space, address(AREA), 2 * INSN_COPY_MAX);
	for (unsigned i = 1; i < ARRAY_SIZE(owners); i++) {
		plant(8 * i, &owners[i]);
		if (scratch_copy_of(space, trap_at(8 * i)))
			placed++;
	}
	ck_assert_uint_ge(placed, 2);
	/* Nothing was written behind the area's end. */
	ck_assert_mem_eq(code + AREA + 2 * INSN_COPY_MAX,
			 before + AREA + 2 * INSN_COPY_MAX, 256);
	scratch_restore(space);
	trap_lift_all(space);
	CHECK_UNTOUCHED();
}
END_TEST

/* A task that is sent to code of ours. */
static const struct task sent = { .tid = 1 };

START_TEST(room_that_is_kept)
{
	struct trap_owner owner = { 0 };

	scratch_keep(space, 3 * INSN_COPY_MAX - 1);
	scratch_add_area(space, address(AREA), 4 * INSN_COPY_MAX);
	plant(0, &owner);
	plant(8, &owner);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(0)), 0);
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(8)), 0);
	ck_assert_int_eq(scratch_begin_guest(space, &sent,
					     3 * INSN_COPY_MAX - 1),
			 0);
	ck_assert_uint_eq(space->scratch.guest.place,
			  address(AREA) + INSN_COPY_MAX);
	scratch_end_guest(space);
	/* Nobody needs it any more. */
	scratch_keep(space, 0);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(8)), 0);
}
END_TEST

/* As by an errand that has to be run once more. */
START_TEST(kept_room_is_taken_twice)
{
	struct trap_owner owner = { 0 };
	taddr_t place;

	scratch_keep(space, 2 * INSN_COPY_MAX);
	scratch_add_area(space, address(AREA), 3 * INSN_COPY_MAX);
	ck_assert_int_eq(scratch_begin_guest(space, &sent, 2 * INSN_COPY_MAX),
			 0);
	place = space->scratch.guest.place;
	ck_assert_uint_ne(place, 0);
	plant(0, &owner);
	plant(8, &owner);
	plant(16, &owner);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(0)), 0);
	scratch_end_guest(space);
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(8)), 0);
	ck_assert_int_eq(scratch_begin_guest(space, &sent, 2 * INSN_COPY_MAX),
			 0);
	ck_assert_uint_eq(space->scratch.guest.place, place);
	ck_assert_int_lt(scratch_begin_guest(space, &sent, 2 * INSN_COPY_MAX),
			 0);
	scratch_end_guest(space);
	scratch_keep(space, 0);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(8)), 0);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(16)), 0);
}
END_TEST

/* What is too small to be kept is there for copies, and so are others. */
START_TEST(room_that_is_not_kept)
{
	struct trap_owner owner = { 0 };

	scratch_keep(space, 4 * INSN_COPY_MAX);
	scratch_add_area(space, address(AREA), 2 * INSN_COPY_MAX);
	plant(0, &owner);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(0)), 0);
	scratch_add_area(space, address(AREA) + 256, 4 * INSN_COPY_MAX);
	plant(8, &owner);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(8)), 0);
	plant(16, &owner);
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(16)), 0);
	scratch_add_area(space, address(AREA) + 512, 4 * INSN_COPY_MAX);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(16)), 0);
}
END_TEST

START_TEST(copies_share_an_area)
{
	struct trap_owner owners[4] = { 0 };
	taddr_t copies[4], ip;
	bool done;

	scratch_add_area(space, address(AREA), 256);
	for (unsigned i = 0; i < 4; i++) {
		plant(i, &owners[i]);
		copies[i] = scratch_copy_of(space, trap_at(i));
		ck_assert_uint_ne(copies[i], 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		ck_assert(scratch_resolve_ip(space, copies[i], &ip, &done));
		ck_assert(!done && ip == address(i));
	}
	/* The mapping of the area is gone: no copy is left, none written. */
	scratch_forget_range(space, address(AREA), address(SIZE));
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(trap_at(i)->copy, 0);
	ck_assert(!scratch_resolve_ip(space, copies[0], &ip, &done));
	ck_assert_uint_ne(code[AREA + 1], NOP);
}
END_TEST

START_TEST(copies_cleaned_in_child)
{
	struct trap_owner owner = { 0 };
	struct procmem child;
	pid_t pid;

	plant(FUNCTION, &owner);
	scratch_add_area(space, address(AREA), 256);
	ck_assert_uint_ne(scratch_copy_of(space, trap_at(FUNCTION)), 0);
	pid = fork_copy(&child);
	ck_assert_int_eq(trap_clean_copy(space, &child, 0), 0);
	check_copy(&child);
	ck_assert_mem_eq(code + AREA, function, 3);
	end_copy(pid, &child);
}
END_TEST

/* Bytes of a child's area, before or behind its forking task's return. */
static void check_guest_of_child(pid_t forker, const char *bytes)
{
	char found[INSN_COPY_MAX];
	struct procmem child;
	pid_t pid = fork_copy(&child);

	ck_assert_int_eq(trap_clean_copy(space, &child, forker), 0);
	ck_assert_uint_eq(procmem_read_code(&child, address(AREA), found,
					    sizeof(found)),
			  sizeof(found));
	ck_assert_mem_eq(found, bytes, sizeof(found));
	end_copy(pid, &child);
}

/* The child of who was sent there returns there; others never do. */
START_TEST(guest_is_left_to_a_child)
{
	struct trap_owner owner = { 0 };
	char guest[INSN_COPY_MAX], before[INSN_COPY_MAX];

	plant(FUNCTION, &owner);
	memset(guest, 0x90, sizeof(guest));
	memcpy(before, code + AREA, sizeof(before));
	scratch_add_area(space, address(AREA), 256);
	ck_assert_int_eq(scratch_begin_guest(space, &sent, sizeof(guest)), 0);
	ck_assert_int_eq(scratch_write_guest(space, guest), 0);
	check_guest_of_child(sent.tid, guest);
	check_guest_of_child(sent.tid + 1, before);
	check_guest_of_child(0, guest);
	scratch_end_guest(space);
}
END_TEST

/* Left behind by another calltrap: a handler may be about to return there. */
START_TEST(what_was_left_is_left_alone)
{
	static const uint64_t mark = SCRATCH_GUEST_MARK;
	struct trap_owner owner = { 0 };

	plant(0, &owner);
	poke(AREA + 2 * INSN_COPY_MAX - 5, &mark, sizeof(mark));
	scratch_add_area(space, address(AREA), 4 * INSN_COPY_MAX);
	ck_assert_uint_eq(scratch_copy_of(space, trap_at(0)),
			  address(AREA) + 3 * INSN_COPY_MAX);
	scratch_add_area(space, address(AREA), 3 * INSN_COPY_MAX);
	ck_assert_uint_eq(space->scratch.area_count, 1);
}
END_TEST

static TCase *own_tcase(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

/* ---- visits that signals have interrupted ---- */

static struct trap_owner visited;

static void remember(struct task *task, size_t at, taddr_t sp)
{
	if (!trap_at(at) || !trap_at(at)->planted)
		ck_assert_int_eq(trap_plant(space, address(at), &visited), 0);
	task->visits[task->visit_count++] =
		(struct visit){ address(at), sp, trap_at(at)->planting };
}

START_TEST(visits)
{
	struct tracee tracee = { .space = space };
	struct task task = { .tracee = &tracee };

	ck_assert(!task_take_visit(&task, address(0x10), 0x7000));
	remember(&task, 0x10, 0x7000);
	remember(&task, 0x20, 0x3000);
	ck_assert(!task_take_visit(&task, address(0x10), 0x6ff8));
	ck_assert(!task_take_visit(&task, address(0x30), 0x7000));
	ck_assert_uint_eq(task.visit_count, 2);
	ck_assert(task_take_visit(&task, address(0x20), 0x3000));
	ck_assert(task_take_visit(&task, address(0x10), 0x7000));
	ck_assert(!task_take_visit(&task, address(0x10), 0x7000));
	ck_assert_uint_eq(task.visit_count, 0);
}
END_TEST

/* The handler's trap was lifted: it went on without hitting it again. */
START_TEST(visit_of_a_trap_that_was_lifted)
{
	struct tracee tracee = { .space = space };
	struct task task = { .tracee = &tracee };

	remember(&task, 0x10, 0x7000);
	remember(&task, 0x20, 0x3000);
	trap_unplant(space, address(0x20), &visited);
	ck_assert(task_take_visit(&task, address(0x10), 0x7000));
	ck_assert_uint_eq(task.visit_count, 0);
}
END_TEST

/* It was planted again, and the next handler hits it: that is another call,
   and the visit that this handler has interrupted is still to come. */
START_TEST(visit_of_a_trap_that_was_planted_again)
{
	struct tracee tracee = { .space = space };
	struct task task = { .tracee = &tracee };

	remember(&task, 0x20, 0x3000);
	remember(&task, 0x10, 0x7000);
	trap_unplant(space, address(0x20), &visited);
	ck_assert_int_eq(trap_plant(space, address(0x20), &visited), 0);
	ck_assert(!task_take_visit(&task, address(0x20), 0x3000));
	ck_assert(task_take_visit(&task, address(0x10), 0x7000));
}
END_TEST

/* ---- who has hit one ---- */

/* A child that has, in its copy of the code. */
static pid_t fork_hit(int *status_ret)
{
	const pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		_exit(call(address(FUNCTION), 1));
	}
	ck_assert_int_eq(waitpid(pid, status_ret, 0), pid);
	ck_assert(WIFSTOPPED(*status_ret) && WSTOPSIG(*status_ret) == SIGTRAP);
	return pid;
}

static taddr_t ip_of(pid_t pid)
{
	struct regs regs;

	ck_assert(!ptrace_get_regs(pid, &regs));
	return arch_native->ip(&regs);
}

/* Its stop is fetched, and has yet to be handled. */
static struct task *fetch(struct tracee *tracee, pid_t pid, int status)
{
	struct task *task = task_new(&tracer, pid, NULL);

	task->tracee = tracee;
	tracer_queue_stop(&tracer, pid, status);
	return task;
}

static void end_hit(struct task *task)
{
	const pid_t pid = task->tid;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	task->tracee = NULL;
	task_free(&tracer, task);
	free(tracer.queue);
}

START_TEST(who_has_hit_one_is_set_back_at_once)
{
	struct tracee tracee = { .space = space };
	struct task *task;
	int status;
	pid_t pid;

	ck_assert_int_eq(trap_plant(space, address(FUNCTION), &visited), 0);
	pid = fork_hit(&status);
	ck_assert_uint_eq(ip_of(pid), address(FUNCTION) + 1);
	task = fetch(&tracee, pid, status);
	ck_assert(task->put_back);
	ck_assert_uint_eq(ip_of(pid), address(FUNCTION));
	tracer_queue_stop(&tracer, pid, SIGUSR1 << 8 | 0x7f);
	ck_assert(!task->put_back);
	end_hit(task);
}
END_TEST

/* An int3 of the program's own. */
START_TEST(who_has_hit_none_is_not_set_back)
{
	struct tracee tracee = { .space = space };
	struct task *task;
	int status;
	pid_t pid;

	poke(FUNCTION, &(const uint8_t){ INT3 }, 1);
	pid = fork_hit(&status);
	task = fetch(&tracee, pid, status);
	ck_assert(!task->put_back);
	ck_assert_uint_eq(ip_of(pid), address(FUNCTION) + 1);
	end_hit(task);
}
END_TEST

/* Others' stops may be handled first, and have told what it did before its own. */
START_TEST(what_stops_had_cost_before_one_that_waits)
{
	const pid_t pid = getpid();
	struct task *task = task_new(&tracer, pid, NULL);

	task->stops = (struct stop_sums){ .count = 3, .stopped_ns = 700 };
	tracer_queue_stop(&tracer, pid, SIGUSR1 << 8 | 0x7f);
	ck_assert(task->stopped);
	ck_assert_uint_eq(task->stops_before.count, 3);
	ck_assert_uint_eq(task->stops_before.stopped_ns, 700);
	/* It is being handled; what comes now comes within it. */
	task->queued--;
	task->stops.count++;
	tracer_queue_stop(&tracer, pid, SIGUSR2 << 8 | 0x7f);
	ck_assert_uint_eq(task->stops_before.count, 3);
	task_free(&tracer, task);
	free(tracer.queue);
}
END_TEST

static Suite *trap_suite(void)
{
	Suite *suite = suite_create("trap");
	TCase *tcase = own_tcase(suite, "traps");

	tcase_add_test(tcase, planted_and_lifted);
	tcase_add_test(tcase, owners);
	tcase_add_test(tcase, foreign_int3);
	tcase_add_test(tcase, places_that_cannot_be_trapped);
	tcase_add_test(tcase, code_that_changed);
	tcase_add_test(tcase, trap_within_an_instruction);
	tcase_add_test(tcase, hidden_from_readers);
	tcase_add_test(tcase, all_lifted);
	tcase_add_test(tcase, few_at_once);
	tcase_add_test(tcase, many_in_slices);
	tcase_add_test(tcase, lifted_before_the_first_slice);
	tcase_add_test(tcase, forgotten_range);
	tcase_add_test(tcase, visits);
	tcase_add_test(tcase, visit_of_a_trap_that_was_lifted);
	tcase_add_test(tcase, visit_of_a_trap_that_was_planted_again);
	tcase_add_test(tcase, who_has_hit_one_is_set_back_at_once);
	tcase_add_test(tcase, who_has_hit_none_is_not_set_back);
	tcase_add_test(tcase, what_stops_had_cost_before_one_that_waits);
	tcase = own_tcase(suite, "forked copies");
	tcase_add_test(tcase, copy_cleaned);
	tcase_add_test(tcase, copy_made_before);
	tcase_add_test(tcase, copy_that_died);
	tcase = own_tcase(suite, "scratch");
	tcase_add_test(tcase, copy_of_instruction);
	tcase_add_test(tcase, no_room_for_copies);
	tcase_add_test(tcase, room_that_is_kept);
	tcase_add_test(tcase, kept_room_is_taken_twice);
	tcase_add_test(tcase, room_that_is_not_kept);
	tcase_add_test(tcase, copies_share_an_area);
	tcase_add_test(tcase, copies_cleaned_in_child);
	tcase_add_test(tcase, guest_is_left_to_a_child);
	tcase_add_test(tcase, what_was_left_is_left_alone);
	return suite;
}

int main(void)
{
	return unit_run(trap_suite());
}
