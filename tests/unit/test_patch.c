/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracee/patch.h"
#include "tracee/space.h"
#include "tracee/tracer.h"
#include "unit.h"

#define TRAP 0xcc

static struct space space;

static const struct patch the_patch = {
	.before = { 0x55, 0x48, 0x89, 0xe5, 0x90 },
	.after = { 0xe9, TRAP, 0x11, 0x22, 0xcc },
};

static bool clean(const uint8_t code[PATCH_SIZE], uint8_t ret[PATCH_SIZE])
{
	struct trap trap = { .patch = patch_copy(&the_patch) };
	const bool is = patch_clean(&space, &trap, memcpy(ret, code, 5));

	free(trap.patch);
	return is;
}

/* In the order in which they are written, and back. */
static const uint8_t moments[][PATCH_SIZE] = {
	{ TRAP, 0x48, 0x89, 0xe5, 0x90 }, { TRAP, TRAP, 0x89, 0xe5, 0x90 },
	{ TRAP, TRAP, 0x89, 0xe5, 0xcc }, { TRAP, TRAP, 0x11, 0xe5, 0xcc },
	{ TRAP, TRAP, 0x11, 0x22, 0xcc }, { 0xe9, TRAP, 0x11, 0x22, 0xcc },
	{ TRAP, TRAP, 0x89, 0xe5, 0xcc },
};

START_TEST(copies_are_cleaned)
{
	uint8_t code[PATCH_SIZE];

	ck_assert(clean(moments[_i], code));
	ck_assert_mem_eq(code, the_patch.before, PATCH_SIZE);
}
END_TEST

static const uint8_t others[][PATCH_SIZE] = {
	{ 0x55, 0x48, 0x89, 0xe5, 0x90 }, /* the function's */
	{ TRAP, 0x49, 0x89, 0xe5, 0x90 }, /* another one's trap */
	{ 0xe9, TRAP, 0x11, 0x23, 0xcc }, /* another jump */
};

START_TEST(what_is_something_else_stays)
{
	uint8_t code[PATCH_SIZE];

	ck_assert(!clean(others[_i], code));
	ck_assert_mem_eq(code, others[_i], PATCH_SIZE);
}
END_TEST

START_TEST(without_a_patch_nothing_is_cleaned)
{
	const struct trap trap = { 0 };
	uint8_t code[PATCH_SIZE] = { TRAP };

	ck_assert(!patch_clean(&space, &trap, code));
	ck_assert_ptr_null(patch_copy(NULL));
}
END_TEST

/* What a uprobe makes of the jump, and what it leaves when it goes. */
static const uint8_t by_others[] = { TRAP, 0x55 };

START_TEST(a_uprobe_gets_the_function_back)
{
	static uint8_t code[PATCH_SIZE];
	struct trap trap = { .address = (uintptr_t)code, .planted = true };

	memcpy(code, the_patch.after, PATCH_SIZE);
	code[0] = by_others[_i];
	trap.patch = patch_copy(&the_patch);
	trap.patch->state = PATCH_STANDS;
	space.has_patches = true;
	procmem_init(&space.memory, getpid());
	HASH_ADD(hh, space.traps, address, sizeof(trap.address), &trap);
	patch_look(&space);
	ck_assert(!patch_stands(&trap));
	ck_assert_uint_eq(code[0], TRAP);
	ck_assert_mem_eq(code + 1, the_patch.before + 1, PATCH_SIZE - 1);
	HASH_DEL(space.traps, &trap);
	free(trap.patch);
}
END_TEST

static uint8_t half_written[PATCH_SIZE];

/* calltrap crashes at any moment of it, and lifts all traps. */
START_TEST(what_is_half_written_is_taken_out)
{
	struct trap trap = { .address = (uintptr_t)half_written,
			     .planted = true };

	memcpy(half_written, moments[_i], PATCH_SIZE);
	trap.patch = patch_copy(&the_patch);
	trap.patch->state = PATCH_HALF;
	procmem_init(&space.memory, getpid());
	HASH_ADD(hh, space.traps, address, sizeof(trap.address), &trap);
	patch_remove_all(&space);
	ck_assert_uint_eq(half_written[0], TRAP);
	ck_assert_mem_eq(half_written + 1, the_patch.before + 1,
			 PATCH_SIZE - 1);
	ck_assert_int_eq(trap.patch->state, PATCH_GONE);
	HASH_DEL(space.traps, &trap);
	free(trap.patch);
}
END_TEST

/* calltrap crashes: nobody can say whether it is still needed. */
START_TEST(what_serves_stays_when_all_traps_are_lifted)
{
	static uint8_t code[2][16];
	struct tracer tracer = { 0 };
	const struct patch *patch;
	unsigned i;

	space.tracer = &tracer;
	procmem_init(&space.memory, getpid());
	for (i = 0; i < 2; i++) {
		const taddr_t at = (uintptr_t)code[i];

		memcpy(code[i], the_patch.after, PATCH_SIZE);
		ck_assert(patch_adopt(&space, at, the_patch.before,
				      the_patch.after));
		trap_find(&space, at)->patch->serves = i;
	}
	patch_keep_serving(&space);
	trap_lift_all(&space);
	ck_assert_mem_eq(code[0], the_patch.before, PATCH_SIZE);
	ck_assert_mem_eq(code[1], the_patch.after, PATCH_SIZE);
	patch = trap_find(&space, (uintptr_t)code[1])->patch;
	ck_assert_int_eq(patch->state, PATCH_GONE);
	trap_free_all(&space);
}
END_TEST

/* What a child has that was made while it was put back. */
START_TEST(an_old_jump_is_known_to_children)
{
	static uint8_t code[16];
	struct tracer tracer = { 0 };
	const struct trap *trap;
	uint8_t copy[PATCH_SIZE];

	memcpy(code, the_patch.after, PATCH_SIZE);
	space.tracer = &tracer;
	procmem_init(&space.memory, getpid());
	ck_assert(patch_adopt(&space, (uintptr_t)code, the_patch.before,
			      the_patch.after));
	patch_restore_adopted(&space);
	ck_assert_mem_eq(code, the_patch.before, PATCH_SIZE);
	trap = trap_find(&space, (uintptr_t)code);
	ck_assert(trap && !trap->planted && !trap->owners);
	memcpy(copy, moments[_i], PATCH_SIZE);
	ck_assert(patch_clean(&space, trap, copy));
	ck_assert_mem_eq(copy, the_patch.before, PATCH_SIZE);
	trap_free_all(&space);
}
END_TEST

#define TRAPS 40

/* A module's code, and a few bytes of it: looked for in two ways. */
START_TEST(jumps_are_hidden_from_readers)
{
	static struct trap traps[TRAPS];
	uint8_t before[TRAPS * 16], code[sizeof(before)], part[12];
	const taddr_t base = 0x10000;
	size_t at;

	memset(before, 0x90, sizeof(before));
	memcpy(code, before, sizeof(before));
	space.has_patches = true;
	for (at = 0; at < TRAPS; at++) {
		struct trap *trap = &traps[at];

		trap->address = base + 16 * at;
		HASH_ADD(hh, space.traps, address, sizeof(trap->address), trap);
		if (at % 4)
			continue;
		trap->patch = patch_copy(&the_patch);
		trap->patch->state = PATCH_STANDS;
		memcpy(before + 16 * at, the_patch.before, PATCH_SIZE);
		memcpy(code + 16 * at, the_patch.after, PATCH_SIZE);
	}
	for (at = 0; at + sizeof(part) <= sizeof(code); at++) {
		memcpy(part, code + at, sizeof(part));
		patch_hide(&space, base + at, part, sizeof(part));
		ck_assert_mem_eq(part, before + at, sizeof(part));
	}
	patch_hide(&space, base, code, sizeof(code));
	ck_assert_mem_eq(code, before, sizeof(code));
	for (at = 0; at < TRAPS; at++) {
		HASH_DEL(space.traps, &traps[at]);
		free(traps[at].patch);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("patch");
	TCase *tests = tcase_create("patch");

	space.arch = &arch_x86_64;
	tcase_add_loop_test(tests, copies_are_cleaned, 0, ARRAY_SIZE(moments));
	tcase_add_loop_test(tests, what_is_something_else_stays, 0,
			    ARRAY_SIZE(others));
	tcase_add_test(tests, without_a_patch_nothing_is_cleaned);
	tcase_add_test(tests, jumps_are_hidden_from_readers);
	tcase_add_loop_test(tests, a_uprobe_gets_the_function_back, 0,
			    ARRAY_SIZE(by_others));
	tcase_add_loop_test(tests, what_is_half_written_is_taken_out, 0,
			    ARRAY_SIZE(moments));
	if (patch_is_possible())
		tcase_add_test(tests,
			       what_serves_stays_when_all_traps_are_lifted);
	if (patch_is_possible())
		tcase_add_loop_test(tests, an_old_jump_is_known_to_children, 0,
				    ARRAY_SIZE(moments));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
