/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "report/heap/footprint.h"

static struct fixture f;
static struct heap_footprint *footprint;
static struct watched process = { .pid = 77 };
static char path[] = "/tmp/calltrap-footprint.XXXXXX";

static void setup(void)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	fixture_init(&f, NULL);
	ck_assert_int_eq(heap_footprint_new(path, &footprint), 0);
}

static void teardown(void)
{
	heap_footprint_free(footprint);
	fixture_fini(&f);
	unlink(path);
}

/* What has been written by now, less the head that it must have. */
static void check_file(unsigned calls, const char *wanted)
{
	char *text CLEANUP(xfree_cleanup) = NULL;
	size_t size;
	FILE *in;

	ck_assert_int_eq(heap_footprint_close(footprint, process.pid), 0);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	text = xcalloc(1, 1 << 16);
	size = fread(text, 1, (1 << 16) - 1, in);
	fclose(in);
	ck_assert_uint_lt(size, (1 << 16) - 1);
	ck_assert_uint_eq(strtoul(text, NULL, 10), calls);
	ck_assert_ptr_nonnull(strstr(text, "\n\n"));
	ck_assert_str_eq(strstr(text, "\n\n") + 2, wanted);
}

/* A call while it runs. */
struct running {
	struct heap_act act;
	struct observed_act observed;
};

static struct running begin(const char *name, uint64_t handle, uint64_t size)
{
	struct running call = { .act = fixture_act(&f, name) };
	bool resize = call.act.function->act == FAMILY_RESIZE;

	call.act.call = ++f.call;
	call.act.size = size;
	*(resize ? &call.act.old : &call.act.handle) = handle;
	call.observed.process = &process;
	call.observed.act = &call.act;
	call.observed.outcome = heap_begin(f.heap, &call.act);
	if (call.act.function->act != FAMILY_ACQUIRE)
		call.observed.token =
			heap_footprint_taken(footprint, &call.observed);
	return call;
}

static void end(struct running *call, uint64_t handle)
{
	if (call->act.function->act != FAMILY_RELEASE) {
		call->act.handle = handle;
		call->act.failed = !handle;
	}
	call->observed.act = &call->act;
	call->observed.outcome.done = heap_act(f.heap, &call->act).done;
	heap_footprint_ended(footprint, &call->observed);
}

static void abandon(struct running *call)
{
	call->observed.act = &call->act;
	heap_abandon(f.heap, &call->act);
	heap_footprint_abandoned(footprint, &call->observed);
}

static void do_call(const char *name, uint64_t handle, uint64_t size,
		    uint64_t result)
{
	struct running call = begin(name, handle, size);

	end(&call, result);
}

START_TEST(numbers_are_small)
{
	do_call("malloc", 0, 100, 0x10);
	do_call("malloc", 0, 50, 0x20);
	do_call("free", 0x10, 0, 0);
	do_call("malloc", 0, 70, 0x30);
	do_call("new", 0, 8, 0x10);
	do_call("free", 0, 0, 0);
	check_file(6, "m 1 100\nm 2 50\nf 1\nm 1 70\nm 3 8\nf 0\n");
}
END_TEST

START_TEST(a_resize_makes_a_new_block)
{
	do_call("malloc", 0, 100, 0x10);
	do_call("realloc", 0x10, 200, 0x10);
	do_call("realloc", 0, 5, 0x20);
	do_call("realloc", 0x10, 0, 0);
	do_call("free", 0x20, 0, 0);
	check_file(5, "m 1 100\nr 2 1 200\nr 1 0 5\nr 0 2 0\nf 1\n");
}
END_TEST

START_TEST(failures)
{
	do_call("malloc", 0, 100, 0x10);
	do_call("malloc", 0, 1000, 0);
	do_call("realloc", 0x10, 2000, 0);
	do_call("free", 0x10, 0, 0);
	check_file(4, "m 1 100\nm 0 1000\nr 0 1 2000\nf 1\n");
}
END_TEST

START_TEST(what_was_there_before)
{
	do_call("free", 0x99, 0, 0);
	do_call("realloc", 0x88, 20, 0x77);
	do_call("free", 0x77, 0, 0);
	do_call("free", 0x77, 0, 0);
	check_file(4, "f 0\nr 1 0 20\nf 1\nf 0\n");
}
END_TEST

START_TEST(old_block_reused_before_resize_returns)
{
	struct running resize;

	do_call("malloc", 0, 100, 0x10);
	resize = begin("realloc", 0x10, 200);
	do_call("malloc", 0, 30, 0x10);
	end(&resize, 0x90);
	do_call("free", 0x10, 0, 0);
	do_call("free", 0x90, 0, 0);
	check_file(5, "m 1 100\nm 2 30\nr 3 1 200\nf 2\nf 3\n");
}
END_TEST

START_TEST(block_freed_and_reused_before_free_returns)
{
	struct running release;

	do_call("malloc", 0, 100, 0x10);
	release = begin("free", 0x10, 0);
	do_call("malloc", 0, 30, 0x10);
	end(&release, 0);
	do_call("free", 0x10, 0, 0);
	check_file(4, "m 1 100\nf 1\nm 1 30\nf 1\n");
}
END_TEST

START_TEST(a_release_that_was_missed)
{
	do_call("malloc", 0, 100, 0x10);
	do_call("malloc", 0, 30, 0x10);
	do_call("free", 0x10, 0, 0);
	check_file(4, "m 1 100\nf 1\nm 2 30\nf 2\n");
}
END_TEST

START_TEST(a_call_that_never_returns)
{
	struct running call;

	do_call("malloc", 0, 100, 0x10);
	call = begin("realloc", 0x10, 200);
	abandon(&call);
	call = begin("malloc", 0, 8);
	abandon(&call);
	do_call("free", 0x10, 0, 0);
	check_file(2, "m 1 100\nf 1\n");
}
END_TEST

START_TEST(only_blocks_of_bytes)
{
	do_call("mmap", 0, 4096, 0x10000);
	do_call("open", 0, 0, 3);
	do_call("malloc", 0, 4, 0x10);
	check_file(1, "m 1 4\n");
}
END_TEST

START_TEST(products)
{
	struct running call = begin("malloc", 0, 12);
	struct family_function calloc_like = *call.act.function;

	calloc_like.size.kind = OPERAND_PRODUCT;
	call.act.function = &calloc_like;
	call.act.count = 3;
	call.act.item = 4;
	call.act.handle = 0x10;
	call.observed.act = &call.act;
	call.observed.outcome.done = true;
	heap_footprint_ended(footprint, &call.observed);
	check_file(1, "c 1 3 4\n");
}
END_TEST

START_TEST(processes_apart)
{
	do_call("malloc", 0, 100, 0x10);
	process.pid = 78;
	do_call("free", 0x10, 0, 0);
	do_call("malloc", 0, 5, 0x10);
	check_file(2, "f 0\nm 1 5\n");
	process.pid = 77;
	check_file(1, "m 1 100\n");
	check_file(0, "");
}
END_TEST

/* More than fits into memory that is kept back. */
START_TEST(many)
{
	struct stat st;

	for (int i = 0; i < 100000; i++) {
		do_call("malloc", 0, 10, 0x10);
		do_call("free", 0x10, 0, 0);
	}
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_int_eq(heap_footprint_close(footprint, process.pid), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 8 + 100000 * (7 + 4));
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("footprint");
	TCase *tcase = tcase_create("footprint");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, numbers_are_small);
	tcase_add_test(tcase, a_resize_makes_a_new_block);
	tcase_add_test(tcase, failures);
	tcase_add_test(tcase, what_was_there_before);
	tcase_add_test(tcase, old_block_reused_before_resize_returns);
	tcase_add_test(tcase, block_freed_and_reused_before_free_returns);
	tcase_add_test(tcase, a_release_that_was_missed);
	tcase_add_test(tcase, a_call_that_never_returns);
	tcase_add_test(tcase, only_blocks_of_bytes);
	tcase_add_test(tcase, products);
	tcase_add_test(tcase, processes_apart);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
