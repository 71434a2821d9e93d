/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "naming/namer.h"
#include "report/heap/calls.h"

static struct fixture f;
static struct heap_calls *calls;
static struct heap_report_config config;
static struct stacks *stacks;
static struct namer *namer;
static struct watched process = { .pid = 77, .program = "/bin/main" };
static char path[] = "/tmp/calltrap-calls.XXXXXX";
static uint64_t wall_offset;

static void open_calls(const struct heap_calls_options *options)
{
	struct heap_calls_options copy = *options;

	copy.path = path;
	copy.config = &config;
	ck_assert_int_eq(heap_calls_new(&copy, &calls), 0);
}

static void setup(void)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	fixture_init(&f, NULL);
	f.stack = STACK_NONE;
	stacks = stacks_new();
	namer = namer_new(&(struct namer_options){ 0 });
	config = (struct heap_report_config){ .stacks = stacks,
					      .families = f.families,
					      .namer = namer };
	wall_offset = clock_wall(0);
}

static void teardown(void)
{
	heap_calls_free(calls);
	namer_free(namer);
	stacks_free(stacks);
	fixture_fini(&f);
	unlink(path);
}

static void add(struct heap_act *act, struct heap_outcome outcome,
		enum heap_call_end end)
{
	const struct observed_act observed = {
		.process = &process,
		.act = act,
		.outcome = outcome,
		.entered = START + 5,
	};

	act->begin = START + 7;
	act->end = end == HEAP_CALL_RETURNED ? START + 107 : 0;
	ck_assert_int_eq(heap_calls_add(calls, &observed, end), 0);
}

/* What has been written by now. */
static char *written(void)
{
	char *text = xcalloc(1, 1 << 16);
	FILE *in;

	ck_assert_int_eq(heap_calls_flush(calls), 0);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, in), (1 << 16) - 1);
	fclose(in);
	return text;
}

/* The only line; without its time, which is checked. */
static void check_line(const char *wanted, uint64_t time)
{
	char *text CLEANUP(xfree_cleanup) = written();
	unsigned long long seconds, nanoseconds;
	int digits = 0;
	int64_t error;

	ck_assert_int_eq(sscanf(text, "%llu.%n%llu", &seconds, &digits,
				&nanoseconds),
			 2);
	ck_assert_uint_eq(strcspn(text + digits, " "), 9);
	/* The wall clock is read twice, and may be slewed between. */
	error = seconds * NS_PER_SECOND + nanoseconds - (time + wall_offset);
	ck_assert_int_lt(llabs(error), NS_PER_SECOND);
	ck_assert_str_eq(strchr(text, ' '), wanted);
	ck_assert_int_eq(truncate(path, 0), 0);
}

static const struct heap_outcome done = { .done = true };

START_TEST(acquired)
{
	struct heap_act act = fixture_act(&f, "malloc");

	open_calls(&(struct heap_calls_options){ 0 });
	act.library = "/bin/main";
	act.handle = 0x1230;
	act.size = 64;
	add(&act, done, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:program.main - malloc 0x1230 64 bytes "
		   "100 ns from ?\n",
		   START + 107);
}
END_TEST

START_TEST(failed)
{
	struct heap_act act = fixture_act(&f, "malloc");

	open_calls(&(struct heap_calls_options){ 0 });
	act.library = NULL;
	act.size = 64;
	act.failed = true;
	add(&act, (struct heap_outcome){ 0 }, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.? - malloc 0x0 64 bytes 100 ns "
		   "from ?\n",
		   START + 107);
}
END_TEST

START_TEST(released)
{
	struct heap_act act = fixture_act(&f, "free");

	open_calls(&(struct heap_calls_options){ 0 });
	act.library = "/lib/libx\033.so";
	act.handle = 0x1230;
	add(&act, (struct heap_outcome){ true, true, 64, false },
	    HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.libx\\033.so - free 0x1230 64 "
		   "bytes 100 ns from ?\n",
		   START + 5);
}
END_TEST

START_TEST(released_from_before)
{
	struct heap_act act = fixture_act(&f, "free");

	open_calls(&(struct heap_calls_options){ 0 });
	act.handle = 0x1230;
	add(&act, done, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - free 0x1230 ? bytes 100 ns "
		   "from ?\n",
		   START + 5);
}
END_TEST

START_TEST(released_nothing)
{
	struct heap_act act = fixture_act(&f, "free");

	open_calls(&(struct heap_calls_options){ 0 });
	add(&act, done, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - free 0x0 0 bytes 100 ns "
		   "from ?\n",
		   START + 5);
}
END_TEST

START_TEST(resized)
{
	struct heap_act act = fixture_act(&f, "realloc");

	open_calls(&(struct heap_calls_options){ 0 });
	act.old = 0x1230;
	act.handle = 0x4560;
	act.size = 20;
	add(&act, (struct heap_outcome){ true, true, 64, false },
	    HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - realloc 0x1230-0x4560 "
		   "64-20 bytes 100 ns from ?\n",
		   START + 107);
}
END_TEST

START_TEST(resized_from_before)
{
	struct heap_act act = fixture_act(&f, "realloc");

	open_calls(&(struct heap_calls_options){ 0 });
	act.old = 0x1230;
	act.size = 20;
	act.failed = true;
	add(&act, (struct heap_outcome){ 0 }, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - realloc 0x1230-0x0 ?-20 "
		   "bytes 100 ns from ?\n",
		   START + 107);
}
END_TEST

START_TEST(unfinished)
{
	struct heap_act act = fixture_act(&f, "malloc");

	open_calls(&(struct heap_calls_options){ 0 });
	act.size = 64;
	add(&act, (struct heap_outcome){ 0 }, HEAP_CALL_UNFINISHED);
	check_line(" [MEM_TRACE] 100:library.main - malloc ? 64 bytes ? ns "
		   "from ?\n",
		   START + 5);
}
END_TEST

START_TEST(descriptors)
{
	struct heap_act act = fixture_act(&f, "open");

	open_calls(&(struct heap_calls_options){ 0 });
	act.handle = 3;
	add(&act, done, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - open 3 100 ns from ?\n",
		   START + 107);
	heap_calls_free(calls);
	open_calls(&(struct heap_calls_options){ 0 });
	add(&act, (struct heap_outcome){ 0 }, HEAP_CALL_RETURNED);
	check_line(" [MEM_TRACE] 100:library.main - open -1 100 ns from ?\n",
		   START + 107);
}
END_TEST

/* In code of no file. */
static stack_id some_stack(void)
{
	const struct frame frame = {
		.code = stacks_code(stacks, NULL, "", 77),
		.address = 0x1234,
	};

	return stacks_intern(stacks, &frame, 1, STACK_COMPLETE);
}

static unsigned second(void *context, stack_id stack, const char *library)
{
	unsigned *asked = context;

	(void)stack;
	++*asked;
	return strcmp(library, "main") ? 0 : 2;
}

START_TEST(components)
{
	char *names[] = { "one", "two words" };
	struct heap_act act = fixture_act(&f, "free");
	unsigned asked = 0;
	char *text;

	config.components = names;
	config.component_count = 2;
	open_calls(&(struct heap_calls_options){ .component = second,
						 .context = &asked });
	act.stack = some_stack();
	for (int i = 0; i < 10; i++)
		add(&act, done, HEAP_CALL_RETURNED);
	ck_assert_uint_eq(asked, 1);
	act.library = "other";
	add(&act, done, HEAP_CALL_RETURNED);
	ck_assert_uint_eq(asked, 2);
	text = written();
	ck_assert_ptr_nonnull(strstr(text, " 100:two words.main - free"));
	ck_assert_ptr_nonnull(strstr(text, " from 0x1234@[anon]\n"));
	ck_assert_ptr_nonnull(strstr(text, " 100:other.other - free"));
	free(text);
}
END_TEST

START_TEST(a_full_disk_is_told_once)
{
	struct heap_act act = fixture_act(&f, "free");
	struct observed_act observed = { .process = &process, .act = &act };
	struct heap_calls_options options = { .path = "/dev/full",
					      .config = &config };
	int err = 0, told = 0;

	if (access("/dev/full", W_OK))
		return;
	ck_assert_int_eq(heap_calls_new(&options, &calls), 0);
	for (int i = 0; i < 10000; i++) {
		err = heap_calls_add(calls, &observed, HEAP_CALL_RETURNED);
		told += err != 0;
	}
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(heap_calls_flush(calls), 0);
	ck_assert_int_eq(heap_calls_close(calls, 77), 0);
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("heap_calls");
	TCase *tcase = tcase_create("heap_calls");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, acquired);
	tcase_add_test(tcase, failed);
	tcase_add_test(tcase, released);
	tcase_add_test(tcase, released_from_before);
	tcase_add_test(tcase, released_nothing);
	tcase_add_test(tcase, resized);
	tcase_add_test(tcase, resized_from_before);
	tcase_add_test(tcase, unfinished);
	tcase_add_test(tcase, descriptors);
	tcase_add_test(tcase, components);
	tcase_add_test(tcase, a_full_disk_is_told_once);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
