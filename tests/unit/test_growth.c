/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "growth/calls.h"
#include "growth/growth.h"
#include "unit.h"

#define PAGE  ((uint64_t)GROWTH_PAGE)
#define BASE  UINT64_C(0x7f0000000000)
#define BREAK UINT64_C(0x555500000000)

/* Stacks, as numbers. */
enum { A = 1, B, C, D };

static struct growth *growth;
static uint64_t now;

static void setup(void)
{
	growth = growth_new(&(struct growth_options){ .kinds = GROWTH_ALL });
	now = 0;
}

static void teardown(void)
{
	growth_free(growth);
}

static struct growth_actor by(const char *function, stack_id stack)
{
	return (struct growth_actor){ function, stack, ++now };
}

static void map(stack_id stack, uint64_t page, uint64_t pages)
{
	const struct growth_actor actor = by("mmap", stack);

	growth_map(growth, &actor, BASE + page * PAGE, pages * PAGE);
}

static void unmap(stack_id stack, uint64_t page, uint64_t pages)
{
	const struct growth_actor actor = by("munmap", stack);
	struct range_list taken = { 0 };

	growth_take(growth, BASE + page * PAGE, pages * PAGE, &taken);
	growth_unmap(growth, &actor, BASE + page * PAGE, pages * PAGE, &taken);
}

static void remap(stack_id stack, uint64_t from, uint64_t from_pages,
		  uint64_t to, uint64_t to_pages)
{
	const struct growth_actor actor = by("mremap", stack);
	const struct growth_move move = {
		.from = BASE + from * PAGE,
		.from_size = from_pages * PAGE,
		.to = BASE + to * PAGE,
		.to_size = to_pages * PAGE,
	};
	struct range_list taken = { 0 };

	growth_take(growth, move.from, move.from_size, &taken);
	growth_remap(growth, &actor, &move, &taken);
}

static void touch(stack_id stack, uint64_t page)
{
	growth_fault(growth, &(struct growth_fault){
				     .stack = stack,
				     .time = ++now,
				     .address = BASE + page * PAGE + 17 });
}

static const struct growth_site *site_of(enum growth_kind kind,
					 const char *function, stack_id stack)
{
	for (size_t i = 1; i <= growth_site_count(growth); i++) {
		const struct growth_site *site = growth_site(growth, i);

		if (site->kind == kind && site->stack == stack &&
		    (function ? site->function &&
					!strcmp(site->function, function) :
				!site->function))
			return site;
	}
	ck_abort_msg("no site of %s by stack %u", function, (unsigned)stack);
	return NULL;
}

static void check_site(enum growth_kind kind, const char *function,
		       stack_id stack, uint64_t calls, uint64_t pages,
		       uint64_t gone)
{
	const struct growth_site *site = site_of(kind, function, stack);

	ck_assert_uint_eq(site->calls, calls);
	ck_assert_uint_eq(site->bytes, pages * PAGE);
	ck_assert_uint_eq(site->gone, gone * PAGE);
}

static void check_back(enum growth_kind kind, const char *function,
		       stack_id stack, uint64_t calls, uint64_t pages)
{
	const struct growth_site *site = site_of(kind, function, stack);

	ck_assert_uint_eq(site->back_calls, calls);
	ck_assert_uint_eq(site->back, pages * PAGE);
}

static void check_total(enum growth_kind kind, uint64_t pages, uint64_t back)
{
	const struct growth_total total = growth_total(growth, kind);

	ck_assert_uint_eq(total.bytes, pages * PAGE);
	ck_assert_uint_eq(total.back, back * PAGE);
}

/* ---- brk ---- */

static void move_break(stack_id stack, uint64_t bytes)
{
	const struct growth_actor actor = by("brk", stack);

	growth_move_break(growth, &actor, BREAK + bytes);
}

START_TEST(break_of_whole_pages)
{
	growth_set_break(growth, BREAK, BREAK);
	move_break(A, 100);
	move_break(B, 200);
	move_break(A, 3 * PAGE + 1);
	check_site(GROWTH_HEAP, "brk", A, 2, 4, 0);
	check_site(GROWTH_HEAP, "brk", B, 1, 0, 0);
	check_total(GROWTH_HEAP, 4, 0);
}
END_TEST

START_TEST(break_that_shrinks)
{
	growth_add_before(growth, BREAK, BREAK + 2 * PAGE);
	growth_set_break(growth, BREAK, BREAK + 2 * PAGE);
	move_break(A, 6 * PAGE);
	move_break(B, 10 * PAGE);
	move_break(C, 5 * PAGE);
	check_site(GROWTH_HEAP, "brk", A, 1, 4, 1);
	check_site(GROWTH_HEAP, "brk", B, 1, 4, 4);
	check_back(GROWTH_HEAP, "brk", C, 1, 5);
	move_break(C, PAGE);
	check_site(GROWTH_HEAP, "brk", A, 1, 4, 4);
	check_back(GROWTH_HEAP, "brk", C, 2, 9);
	check_total(GROWTH_HEAP, 8, 9);
	ck_assert_uint_eq(growth_total(growth, GROWTH_HEAP).back_before, PAGE);
}
END_TEST

/* ---- mappings ---- */

START_TEST(unmapped_in_parts)
{
	map(A, 0, 10);
	unmap(B, 3, 4);
	check_site(GROWTH_MMAP, "mmap", A, 1, 10, 4);
	check_back(GROWTH_MMAP, "munmap", B, 1, 4);
	unmap(B, 0, 10);
	check_site(GROWTH_MMAP, "mmap", A, 1, 10, 10);
	check_back(GROWTH_MMAP, "munmap", B, 2, 10);
	check_total(GROWTH_MMAP, 10, 10);
	/* Four pages of the second one were nobody's any more. */
	ck_assert_uint_eq(growth_total(growth, GROWTH_MMAP).unknown, 4 * PAGE);
}
END_TEST

START_TEST(several_unmapped_at_once)
{
	growth_add_before(growth, BASE, BASE + 2 * PAGE);
	map(A, 2, 3);
	map(B, 5, 1);
	unmap(C, 1, 5);
	check_site(GROWTH_MMAP, "mmap", A, 1, 3, 3);
	check_site(GROWTH_MMAP, "mmap", B, 1, 1, 1);
	check_back(GROWTH_MMAP, "munmap", C, 1, 5);
	ck_assert_uint_eq(growth_total(growth, GROWTH_MMAP).back_before, PAGE);
}
END_TEST

START_TEST(mapped_over)
{
	growth_add_before(growth, BASE, BASE + 2 * PAGE);
	map(A, 2, 4);
	map(B, 1, 3);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 2);
	check_site(GROWTH_MMAP, "mmap", B, 1, 3, 0);
	check_total(GROWTH_MMAP, 7, 3);
	ck_assert_uint_eq(growth_total(growth, GROWTH_MMAP).replaced, 3 * PAGE);
	unmap(C, 0, 6);
	check_total(GROWTH_MMAP, 7, 9);
}
END_TEST

START_TEST(unmapping_fails)
{
	struct range_list taken = { 0 };

	map(A, 0, 4);
	growth_take(growth, BASE + PAGE, PAGE, &taken);
	growth_put_back(growth, &taken);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 0);
	check_total(GROWTH_MMAP, 4, 0);
	unmap(B, 0, 4);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 4);
}
END_TEST

/* Another thread is given the addresses before munmap's return is seen. */
START_TEST(addresses_come_back_at_once)
{
	const struct growth_actor actor = by("munmap", B);
	struct range_list taken = { 0 };

	map(A, 0, 4);
	growth_take(growth, BASE, 4 * PAGE, &taken);
	map(C, 0, 4);
	growth_unmap(growth, &actor, BASE, 4 * PAGE, &taken);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 4);
	check_site(GROWTH_MMAP, "mmap", C, 1, 4, 0);
	check_total(GROWTH_MMAP, 8, 4);
}
END_TEST

/* ---- mremap ---- */

START_TEST(moved_and_larger)
{
	map(A, 0, 4);
	remap(B, 0, 4, 100, 10);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 0);
	check_site(GROWTH_MMAP, "mremap", B, 1, 6, 0);
	check_total(GROWTH_MMAP, 10, 0);
	map(C, 0, 4);
	unmap(D, 100, 10);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 4);
	check_site(GROWTH_MMAP, "mremap", B, 1, 6, 6);
	check_site(GROWTH_MMAP, "mmap", C, 1, 4, 0);
}
END_TEST

START_TEST(larger_in_place)
{
	map(A, 0, 4);
	remap(B, 0, 4, 0, 5);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 0);
	check_site(GROWTH_MMAP, "mremap", B, 1, 1, 0);
	check_total(GROWTH_MMAP, 5, 0);
}
END_TEST

START_TEST(smaller)
{
	map(A, 0, 4);
	map(B, 4, 4);
	remap(C, 0, 8, 20, 3);
	check_site(GROWTH_MMAP, "mmap", A, 1, 4, 1);
	check_site(GROWTH_MMAP, "mmap", B, 1, 4, 4);
	check_back(GROWTH_MMAP, "mremap", C, 1, 5);
	unmap(D, 20, 3);
	check_total(GROWTH_MMAP, 8, 8);
}
END_TEST

START_TEST(moved_over_another)
{
	map(A, 0, 2);
	map(B, 10, 4);
	remap(C, 0, 2, 11, 2);
	check_site(GROWTH_MMAP, "mmap", A, 1, 2, 0);
	check_site(GROWTH_MMAP, "mmap", B, 1, 4, 2);
	check_total(GROWTH_MMAP, 6, 2);
	unmap(D, 0, 20);
	check_total(GROWTH_MMAP, 6, 6);
}
END_TEST

/* ---- pages ---- */

START_TEST(pages_go_with_mappings)
{
	map(A, 0, 10);
	for (uint64_t page = 0; page < 6; page++)
		touch(B, page);
	touch(C, 5);
	check_site(GROWTH_FAULTS, NULL, B, 6, 6, 1);
	check_site(GROWTH_FAULTS, NULL, C, 1, 1, 0);
	ck_assert_uint_eq(growth_total(growth, GROWTH_FAULTS).again, PAGE);
	unmap(D, 4, 3);
	check_site(GROWTH_FAULTS, NULL, B, 6, 6, 2);
	check_site(GROWTH_FAULTS, NULL, C, 1, 1, 1);
	check_back(GROWTH_FAULTS, "munmap", D, 1, 2);
	check_total(GROWTH_FAULTS, 7, 2);
}
END_TEST

START_TEST(pages_move)
{
	map(A, 0, 10);
	for (uint64_t page = 0; page < 10; page++)
		touch(B, page);
	remap(C, 0, 10, 50, 8);
	check_site(GROWTH_FAULTS, NULL, B, 10, 10, 2);
	touch(D, 0);
	unmap(D, 50, 8);
	check_site(GROWTH_FAULTS, NULL, B, 10, 10, 10);
	check_site(GROWTH_FAULTS, NULL, D, 1, 1, 0);
}
END_TEST

START_TEST(pages_are_dropped)
{
	const struct growth_actor actor = by("madvise", C);

	map(A, 0, 10);
	touch(B, 1);
	touch(B, 2);
	growth_drop_pages(growth, &actor, BASE, 2 * PAGE);
	check_site(GROWTH_FAULTS, NULL, B, 2, 2, 1);
	check_total(GROWTH_MMAP, 10, 0);
	touch(B, 1);
	check_site(GROWTH_FAULTS, NULL, B, 3, 3, 1);
}
END_TEST

/* ---- calls ---- */

static uint64_t calls;

static struct call call_of(struct function *function, const char *name,
			   bool by_kernel, const uint64_t arguments[4])
{
	struct call call = {
		.function = function,
		.id = ++calls,
		.pid = 1,
		.tid = 1,
		.arch = &arch_x86_64,
		.stack = A,
	};

	*function = (struct function){
		.name = (char *)name,
		.place = by_kernel ? FUNCTION_SYSTEM_CALL : FUNCTION_ENTRY,
	};
	call.entry.user.rdi = arguments[0];
	call.entry.user.rsi = arguments[1];
	call.entry.user.rdx = arguments[2];
	/* The fourth one: the kernel has r10, functions rcx. */
	call.entry.user.r10 = by_kernel ? arguments[3] : 0;
	call.entry.user.rcx = by_kernel ? 0 : arguments[3];
	return call;
}

static void make(const char *name, bool by_kernel, const uint64_t arguments[4],
		 uint64_t result)
{
	struct function function;
	struct call call = call_of(&function, name, by_kernel, arguments);
	struct regs regs = { .user.rax = result };
	struct event event = { .kind = EVENT_CALL, .time = 1, .call = &call };

	growth_call(growth, &event);
	event.kind = EVENT_RETURN;
	event.regs = &regs;
	growth_call(growth, &event);
}

#define MAKE(name, by_kernel, result, ...) \
	make(name, by_kernel, (const uint64_t[4]){ __VA_ARGS__ }, result)

START_TEST(brk_of_function_and_kernel)
{
	growth_set_break(growth, BREAK, BREAK);
	MAKE("brk", false, 0, 0);
	MAKE("brk", false, 0, BREAK + PAGE);
	MAKE("brk", false, UINT64_MAX, BREAK + 2 * PAGE);
	MAKE("brk", true, BREAK + PAGE, 0);
	MAKE("brk", true, BREAK + 4 * PAGE, BREAK + 4 * PAGE);
	/* Refused: the kernel says where it is. */
	MAKE("brk", true, BREAK + 4 * PAGE, BREAK + 8 * PAGE);
	check_site(GROWTH_HEAP, "brk", A, 2, 4, 0);
	ck_assert_uint_eq(growth_total(growth, GROWTH_HEAP).failed, 2);
}
END_TEST

START_TEST(mappings_of_function_and_kernel)
{
	for (int by_kernel = 0; by_kernel < 2; by_kernel++) {
		const uint64_t error = by_kernel ? (uint64_t)-ENOMEM :
						   UINT64_MAX;

		MAKE("mmap", by_kernel, BASE, 0, 4 * PAGE);
		MAKE("mmap", by_kernel, error, 0, 4 * PAGE);
		MAKE("mremap", by_kernel, BASE + 64 * PAGE, BASE, 4 * PAGE,
		     6 * PAGE, MREMAP_MAYMOVE);
		MAKE("munmap", by_kernel, error, BASE + 64 * PAGE, 6 * PAGE);
		MAKE("munmap", by_kernel, 0, BASE + 64 * PAGE, 6 * PAGE);
	}
	check_site(GROWTH_MMAP, "mmap", A, 2, 8, 8);
	check_site(GROWTH_MMAP, "mremap", A, 2, 4, 4);
	check_back(GROWTH_MMAP, "munmap", A, 2, 12);
	ck_assert_uint_eq(growth_total(growth, GROWTH_MMAP).failed, 4);
	check_total(GROWTH_MMAP, 12, 12);
}
END_TEST

/* What was there stays, and is mapped a second time. */
START_TEST(mremap_that_leaves_the_old_one)
{
	MAKE("mmap", false, BASE, 0, 4 * PAGE);
	MAKE("mremap", false, BASE + 8 * PAGE, BASE, 0, 4 * PAGE,
	     MREMAP_MAYMOVE);
	MAKE("mremap", true, BASE + 16 * PAGE, BASE, 4 * PAGE, 4 * PAGE,
	     MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	check_total(GROWTH_MMAP, 12, 0);
	MAKE("munmap", false, 0, BASE, 20 * PAGE);
	check_total(GROWTH_MMAP, 12, 12);
}
END_TEST

START_TEST(calls_within_and_unfinished)
{
	struct function wrapper, inner, other;
	struct call outer = call_of(&wrapper, "mmap", false,
				    (const uint64_t[4]){ 0, PAGE });
	struct call within = call_of(&inner, "mmap64", false,
				     (const uint64_t[4]){ 0, PAGE });
	struct call left = call_of(&other, "munmap", false,
				   (const uint64_t[4]){ BASE, PAGE });
	struct regs regs = { .user.rax = BASE };
	struct event event = { .kind = EVENT_CALL, .call = &outer };

	growth_call(growth, &event);
	event.call = &within;
	growth_call(growth, &event);
	event.kind = EVENT_RETURN;
	event.regs = &regs;
	growth_call(growth, &event);
	event.call = &outer;
	growth_call(growth, &event);
	check_total(GROWTH_MMAP, 1, 0);
	event.kind = EVENT_CALL;
	event.call = &left;
	growth_call(growth, &event);
	event.kind = EVENT_ABANDON;
	growth_call(growth, &event);
	check_total(GROWTH_MMAP, 1, 0);
	ck_assert_uint_eq(growth_lost(growth), 1);
}
END_TEST

/* ---- at random, beside books that have a line for each page ---- */

#define PAGES             200
#define STACKS            4
#define FROM_MMAP(stack)  (stack)
#define FROM_REMAP(stack) (STACKS + (stack))
#define OWNERS            (2 * STACKS + 1)

struct books {
	unsigned owner[PAGES];                /* 0: nothing is there */
	uint64_t bytes[OWNERS], gone[OWNERS]; /* in pages */
	uint64_t back;
};

static void books_clear(struct books *books, unsigned page, unsigned pages)
{
	for (unsigned i = page; i < page + pages; i++) {
		books->back += books->owner[i] != 0;
		books->gone[books->owner[i]]++;
		books->owner[i] = 0;
	}
}

static void books_own(struct books *books, unsigned owner, unsigned page,
		      unsigned pages)
{
	for (unsigned i = page; i < page + pages; i++)
		books->owner[i] = owner;
	books->bytes[owner] += pages;
}

static void books_move(struct books *books, unsigned stack, unsigned from,
		       unsigned old, unsigned to, unsigned new)
{
	unsigned least = old < new ? old : new;

	books_clear(books, to, new);
	for (unsigned i = 0; i < least; i++) {
		books->owner[to + i] = books->owner[from + i];
		books->owner[from + i] = 0;
	}
	books_clear(books, from + least, old - least);
	if (new > old)
		books_own(books, FROM_REMAP(stack), to + old, new - old);
}

static void act_at_random(struct books *books)
{
	unsigned stack = 1 + rand() % STACKS;
	unsigned page = rand() % PAGES, other = rand() % PAGES;
	unsigned pages = 1 + rand() % (PAGES - page);
	unsigned others = 1 + rand() % (PAGES - other);

	switch (rand() % 4) {
	case 0:
	case 1:
		pages = 1 + pages % 20;
		if (page + pages > PAGES)
			return;
		map(stack, page, pages);
		books_clear(books, page, pages);
		books_own(books, FROM_MMAP(stack), page, pages);
		break;
	case 2:
		unmap(stack, page, pages);
		books_clear(books, page, pages);
		break;
	case 3:
		if (page < other + others && other < page + pages)
			return;
		remap(stack, page, pages, other, others);
		books_move(books, stack, page, pages, other, others);
		break;
	}
}

static void check_books(const struct books *books)
{
	uint64_t bytes[OWNERS] = { 0 }, gone[OWNERS] = { 0 };

	for (size_t i = 1; i <= growth_site_count(growth); i++) {
		const struct growth_site *site = growth_site(growth, i);
		unsigned owner = strcmp(site->function, "mremap") ?
					 FROM_MMAP(site->stack) :
					 FROM_REMAP(site->stack);

		bytes[owner] += site->bytes / PAGE;
		gone[owner] += site->gone / PAGE;
	}
	for (unsigned owner = 1; owner < OWNERS; owner++) {
		ck_assert_uint_eq(bytes[owner], books->bytes[owner]);
		ck_assert_uint_eq(gone[owner], books->gone[owner]);
	}
	ck_assert_uint_eq(growth_total(growth, GROWTH_MMAP).back,
			  books->back * PAGE);
}

START_TEST(at_random)
{
	struct books books = { 0 };

	srand(_i + 1);
	for (int i = 0; i < 2000; i++) {
		act_at_random(&books);
		check_books(&books);
	}
}
END_TEST

/* Numbers that no kernel would accept do no harm. */
START_TEST(hostile)
{
	growth_set_break(growth, BREAK, BREAK);
	MAKE("mmap", false, BASE, 0, UINT64_MAX);
	MAKE("mmap", false, UINT64_MAX - PAGE, 0, UINT64_MAX);
	MAKE("mremap", false, 5, BASE, UINT64_MAX, UINT64_MAX, 1);
	MAKE("munmap", false, 0, 0, UINT64_MAX);
	MAKE("munmap", false, 0, UINT64_MAX, UINT64_MAX);
	MAKE("brk", false, 0, UINT64_MAX);
	MAKE("brk", false, 0, BREAK);
	MAKE("madvise", false, 0, 1, UINT64_MAX, MADV_DONTNEED);
	touch(A, UINT64_MAX / PAGE);
	growth_fault(growth, &(struct growth_fault){ .address = UINT64_MAX });
	ck_assert_uint_ge(growth_total(growth, GROWTH_MMAP).calls, 2);
}
END_TEST

static Suite *growth_suite(void)
{
	Suite *suite = suite_create("growth");
	TCase *tcase = tcase_create("growth");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, break_of_whole_pages);
	tcase_add_test(tcase, break_that_shrinks);
	tcase_add_test(tcase, unmapped_in_parts);
	tcase_add_test(tcase, several_unmapped_at_once);
	tcase_add_test(tcase, mapped_over);
	tcase_add_test(tcase, unmapping_fails);
	tcase_add_test(tcase, addresses_come_back_at_once);
	tcase_add_test(tcase, moved_and_larger);
	tcase_add_test(tcase, larger_in_place);
	tcase_add_test(tcase, smaller);
	tcase_add_test(tcase, moved_over_another);
	tcase_add_test(tcase, pages_go_with_mappings);
	tcase_add_test(tcase, pages_move);
	tcase_add_test(tcase, pages_are_dropped);
	tcase_add_test(tcase, brk_of_function_and_kernel);
	tcase_add_test(tcase, mappings_of_function_and_kernel);
	tcase_add_test(tcase, mremap_that_leaves_the_old_one);
	tcase_add_test(tcase, calls_within_and_unfinished);
	tcase_add_loop_test(tcase, at_random, 0, 10);
	tcase_add_test(tcase, hostile);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(growth_suite());
}
