/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tracee/rdebug.h"
#include "tracee/space.h"
#include "unit.h"

/* Lists in our own memory, read as those of any process. */

struct map {
	uint64_t bias, name, dynamic, next, previous;
};

struct debug {
	uint64_t version, map, breakpoint, state, base, next;
};

#define MAPS 20000

static struct map maps[MAPS];

static taddr_t place(const void *object)
{
	return (taddr_t)(uintptr_t)object;
}

/* A list of n, the last of which leads to maps[end], or ends with end == n. */
static void make_list(size_t first, size_t n, size_t end)
{
	size_t i;

	for (i = first; i < first + n; i++)
		maps[i] =
			(struct map){ .bias = i, .next = place(&maps[i + 1]) };
	maps[first + n - 1].next = end == first + n ? 0 : place(&maps[end]);
}

/* Walks; sees that 0 to n - 1 come in order first; returns how it ended. */
static int walk(const struct debug *debug, size_t n, unsigned *count_ret,
		unsigned *namespaces_ret)
{
	struct space space = { .arch = arch_native };
	struct rendezvous first;
	struct rdebug_walk walk;
	struct link_entry entry;
	int more;

	procmem_init(&space.memory, getpid());
	ck_assert_int_eq(rdebug_read(&space, place(debug), &first), 0);
	rdebug_walk_init(&walk, &space, &first);
	*count_ret = 0;
	while ((more = rdebug_walk_next(&walk, &entry)) > 0) {
		if (*count_ret < n)
			ck_assert_uint_eq(entry.bias, *count_ret);
		(*count_ret)++;
		*namespaces_ret = walk.link_namespace + 1;
		ck_assert_uint_le(*count_ret, 1000000);
	}
	if (!more)
		ck_assert_uint_ge(*count_ret, n);
	procmem_fini(&space.memory);
	return more;
}

START_TEST(plain_lists)
{
	static const size_t lengths[] = { 1, 2, 3, 100, 16384 };
	struct debug debug = { 1, place(maps), 0, 0, 0, 0 };
	unsigned count, namespaces;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		make_list(0, lengths[i], lengths[i]);
		ck_assert_int_eq(walk(&debug, lengths[i], &count, &namespaces),
				 0);
		ck_assert_uint_eq(count, lengths[i]);
		ck_assert_uint_eq(namespaces, 1);
	}
	debug.map = 0;
	ck_assert_int_eq(walk(&debug, 0, &count, &namespaces), 0);
	ck_assert_uint_eq(count, 0);
}
END_TEST

/* Each entry is seen, none very often, whatever leads back to whatever. */
START_TEST(rings)
{
	struct debug debug = { 1, place(maps), 0, 0, 0, 0 };
	unsigned count, namespaces;
	size_t n, end;

	for (n = 1; n < 40; n++) {
		for (end = 0; end < n; end++) {
			make_list(0, n, end);
			ck_assert_int_eq(walk(&debug, n, &count, &namespaces),
					 0);
			ck_assert_uint_le(count, 4 * n + 2);
		}
	}
}
END_TEST

START_TEST(endless_and_wild)
{
	struct debug debug = { 1, place(maps), 0, 0, 0, 0 };
	unsigned count, namespaces;

	make_list(0, 16385, 16385);
	ck_assert_int_eq(walk(&debug, 16384, &count, &namespaces), -ELOOP);
	ck_assert_uint_eq(count, 16384);
	make_list(0, 10, 10);
	maps[9].next = 16;
	ck_assert_int_eq(walk(&debug, 10, &count, &namespaces), -EFAULT);
	ck_assert_uint_eq(count, 10);
}
END_TEST

START_TEST(several_namespaces)
{
	struct debug debug[3];
	unsigned count, namespaces, i;

	make_list(0, 30, 30);
	for (i = 0; i < 3; i++) {
		maps[i * 10 + 9].next = 0;
		debug[i] =
			(struct debug){ 2, place(&maps[i * 10]),
					0, 0,
					0, i < 2 ? place(&debug[i + 1]) : 0 };
	}
	ck_assert_int_eq(walk(debug, 30, &count, &namespaces), 0);
	ck_assert_uint_eq(count, 30);
	ck_assert_uint_eq(namespaces, 3);
	/* One that can't be read ends the list. */
	debug[1].next = 16;
	ck_assert_int_eq(walk(debug, 20, &count, &namespaces), 0);
	ck_assert_uint_eq(count, 20);
	/* Version 1 knows of no other. */
	debug[0].version = 1;
	ck_assert_int_eq(walk(debug, 10, &count, &namespaces), 0);
	ck_assert_uint_eq(count, 10);
}
END_TEST

START_TEST(ring_of_namespaces)
{
	struct debug debug[3];
	unsigned count, namespaces, i, end;

	make_list(0, 3, 3);
	maps[0].next = maps[1].next = 0;
	for (end = 0; end < 3; end++) {
		for (i = 0; i < 3; i++)
			debug[i] = (struct debug){
				2, place(&maps[i]),
				0, 0,
				0, place(&debug[i < 2 ? i + 1 : end])
			};
		ck_assert_int_eq(walk(debug, 3, &count, &namespaces), 0);
		ck_assert_uint_le(count, 14);
	}
}
END_TEST

static Suite *rdebug_suite(void)
{
	Suite *suite = suite_create("rdebug");
	TCase *tests = tcase_create("walk");

	tcase_add_test(tests, plain_lists);
	tcase_add_test(tests, rings);
	tcase_add_test(tests, endless_and_wild);
	tcase_add_test(tests, several_namespaces);
	tcase_add_test(tests, ring_of_namespaces);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(rdebug_suite());
}
