/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "debuginfo/answers.h"
#include "debuginfo/debuginfo.h"
#include "dwarf/dwarf_api.h"
#include "dwarf/intervals.h"
#include "dwarf/object.h"
#include "dwarf/wire.h"

/* ---- intervals ---- */

START_TEST(the_smallest_interval_is_found)
{
	struct intervals intervals = { 0 };

	intervals_add(&intervals, 100, 200, 1);
	intervals_add(&intervals, 120, 130, 2);
	intervals_add(&intervals, 300, 300, 3); /* empty */
	intervals_add(&intervals, 50, 400, 4);
	intervals_add(&intervals, 125, 126, 5);
	intervals_sort(&intervals);
	ck_assert_uint_eq(intervals.count, 4);
	ck_assert_uint_eq(intervals_find(&intervals, 100)->value, 1);
	ck_assert_uint_eq(intervals_find(&intervals, 124)->value, 2);
	ck_assert_uint_eq(intervals_find(&intervals, 125)->value, 5);
	ck_assert_uint_eq(intervals_find(&intervals, 130)->value, 1);
	ck_assert_uint_eq(intervals_find(&intervals, 399)->value, 4);
	ck_assert_ptr_null(intervals_find(&intervals, 400));
	ck_assert_ptr_null(intervals_find(&intervals, 49));
	ck_assert_uint_eq(intervals_begin(&intervals, 120)->value, 2);
	ck_assert_ptr_null(intervals_begin(&intervals, 121));
	intervals_fini(&intervals);
}
END_TEST

START_TEST(intervals_are_what_a_search_of_all_finds)
{
	struct intervals intervals = { 0 };
	unsigned seed = 7, i, address;

	for (i = 0; i < 200; i++) {
		unsigned low = rand_r(&seed) % 1000;

		intervals_add(&intervals, low, low + rand_r(&seed) % 60, i);
	}
	intervals_sort(&intervals);
	for (address = 0; address < 1100; address++) {
		uint64_t best = UINT64_MAX;
		const struct interval *found =
			intervals_find(&intervals, address);

		for (i = 0; i < intervals.count; i++) {
			const struct interval *one = &intervals.list[i];

			if (address >= one->low && address < one->high &&
			    one->high - one->low < best)
				best = one->high - one->low;
		}
		ck_assert_uint_eq(found ? found->high - found->low : UINT64_MAX,
				  best);
	}
	intervals_fini(&intervals);
}
END_TEST

/* ---- answers ---- */

static void put_part(struct strbuf *out, const char *name, uint32_t type)
{
	wire_put_string(out, name);
	wire_put_u32(out, type);
	wire_put_u64(out, 0);
	wire_put_u64(out, 0);
	wire_put_u8(out, 0);
	wire_put_u8(out, 0);
}

/* int f(int first), with types that are numbered up to `highest'. */
static void put_function(struct strbuf *out, const char *name, uint32_t highest)
{
	wire_put_u32(out, 0);
	wire_put_u8(out, 1);
	wire_put_u8(out, 0);
	wire_put_u8(out, 0);
	wire_put_u32(out, 1);
	put_part(out, name, highest);
	wire_put_u32(out, 1);
	wire_put_u8(out, DEBUG_INTEGER);
	wire_put_string(out, "int");
	wire_put_u64(out, 4);
	wire_put_u32(out, 0);
	wire_put_u8(out, 1);
	wire_put_u8(out, 0);
	wire_put_u8(out, 0);
	wire_put_u32(out, DEBUG_NO_TYPE);
	wire_put_u64(out, 0);
	wire_put_u32(out, 0);
}

static int read_function(const struct strbuf *bytes, size_t size,
			 struct answers *answers,
			 const struct debug_function **ret)
{
	struct cursor c = cursor_of(bytes->text, size);

	return answers_read_function(answers, &c, ret);
}

START_TEST(an_answer_is_read)
{
	const struct debug_function *function;
	struct answers answers = { 0 };
	struct strbuf bytes = { 0 };

	put_function(&bytes, "first", 0);
	ck_assert_int_eq(read_function(&bytes, bytes.length, &answers,
				       &function),
			 0);
	ck_assert_uint_eq(function->parameter_count, 1);
	ck_assert_str_eq(function->parameters[0].name, "first");
	ck_assert_int_eq(function->types[0].kind, DEBUG_INTEGER);
	ck_assert(function->prototyped && !function->variadic);
	strbuf_fini(&bytes);
	answers_fini(&answers);
}
END_TEST

START_TEST(what_is_cut_or_refers_to_nothing_is_refused)
{
	const struct debug_function *function;
	struct answers answers = { 0 };
	struct strbuf bytes = { 0 };
	size_t size;

	put_function(&bytes, "first", 0);
	for (size = 0; size < bytes.length; size++)
		ck_assert_int_eq(read_function(&bytes, size, &answers,
					       &function),
				 -EPROTO);
	strbuf_clear(&bytes);
	put_function(&bytes, "first", 1);
	ck_assert_int_eq(read_function(&bytes, bytes.length, &answers,
				       &function),
			 -EPROTO);
	strbuf_fini(&bytes);
	answers_fini(&answers);
}
END_TEST

START_TEST(counts_beyond_all_bounds_are_refused)
{
	const struct debug_function *function;
	const struct debug_place *places;
	struct answers answers = { 0 };
	struct strbuf bytes = { 0 };
	struct debug_caller caller;
	struct debug_tails tails;
	struct cursor c;
	unsigned count;

	wire_put_u32(&bytes, 0);
	wire_put_u8(&bytes, 1);
	wire_put_u8(&bytes, 0);
	wire_put_u8(&bytes, 0);
	wire_put_u32(&bytes, UINT32_MAX);
	ck_assert_int_eq(read_function(&bytes, bytes.length, &answers,
				       &function),
			 -EPROTO);
	strbuf_clear(&bytes);
	wire_put_u64(&bytes, 0);
	wire_put_u8(&bytes, DEBUG_TARGET_UNKNOWN);
	wire_put_u64(&bytes, 0);
	wire_put_string(&bytes, NULL);
	wire_put_u32(&bytes, UINT32_MAX);
	c = cursor_of(bytes.text, bytes.length);
	ck_assert_int_eq(answers_read_places(&answers, &c, &caller, &places,
					     &count),
			 -EPROTO);
	strbuf_clear(&bytes);
	wire_put_u8(&bytes, true);
	wire_put_u32(&bytes, WIRE_TAILS_MAX + 1);
	c = cursor_of(bytes.text, bytes.length);
	ck_assert_int_eq(answers_read_tails(&answers, &c, &tails), -EPROTO);
	strbuf_fini(&bytes);
	answers_fini(&answers);
}
END_TEST

START_TEST(names_can_not_command_a_terminal)
{
	const struct debug_function *function;
	struct answers answers = { 0 };
	struct strbuf bytes = { 0 };

	put_function(&bytes,
		     "a\033[2Jb\177\xc2\x9b"
		     "c",
		     0);
	ck_assert_int_eq(read_function(&bytes, bytes.length, &answers,
				       &function),
			 0);
	ck_assert_str_eq(function->parameters[0].name, "a?[2Jb???c");
	strbuf_fini(&bytes);
	answers_fini(&answers);
}
END_TEST

/* ---- the reader, on this program's own debug information ---- */

struct pair {
	int left;
	const char *right;
};

int described(struct pair *pair, double scale);

__attribute__((noinline)) int described(struct pair *pair, double scale)
{
	return pair->left * scale;
}

static struct debuginfo *debuginfo;
static struct image *self;

static void open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(image_open(fd, "self", &self), 0);
	close(fd);
	debuginfo = debuginfo_new();
}

static void close_self(void)
{
	debuginfo_free(debuginfo);
	image_put(self);
}

static uint64_t address_of(const char *name)
{
	const struct symbol *symbol = image_find_symbol(self, name);

	ck_assert_ptr_nonnull(symbol);
	return symbol->address;
}

static pid_t reader(void)
{
	char path[64];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", gettid());
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

START_TEST(a_function_is_described)
{
	const struct debug_function *function;
	const struct debug_type *pointer;

	ck_assert_int_eq(debuginfo_function(debuginfo, self,
					    address_of("described"), &function),
			 0);
	ck_assert_uint_eq(function->parameter_count, 2);
	ck_assert_str_eq(function->parameters[0].name, "pair");
	pointer = &function->types[function->parameters[0].type];
	ck_assert_int_eq(pointer->kind, DEBUG_POINTER);
	ck_assert_str_eq(function->types[pointer->target].name, "pair");
	ck_assert_str_eq(function->types[pointer->target].parts[1].name,
			 "right");
	ck_assert_int_eq(debuginfo_function(debuginfo, self,
					    address_of("described") + 1,
					    &function),
			 -ENOENT);
}
END_TEST

START_TEST(places_are_the_same_one_by_one_and_together)
{
	uint64_t low = address_of("described"), addresses[8];
	const struct debug_place *places;
	struct debuginfo *other = debuginfo_new();
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		addresses[i] = low + (i * 5) % 8;
	debuginfo_prepare_places(other, self, addresses, ARRAY_SIZE(addresses));
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		const struct debug_place *same;

		ck_assert_int_eq(debuginfo_places(debuginfo, self, addresses[i],
						  &places),
				 1);
		ck_assert_int_eq(debuginfo_places(other, self, addresses[i],
						  &same),
				 1);
		ck_assert_str_eq(places->function, "described");
		ck_assert_str_eq(same->function, "described");
		ck_assert_uint_eq(places->line, same->line);
		ck_assert(strstr(places->file, "test_debuginfo.c"));
	}
	ck_assert_int_eq(debuginfo_places(debuginfo, self, 1, &places), 0);
	debuginfo_free(other);
}
END_TEST

/* The reader stands still meanwhile: nobody waits for it. */
START_TEST(prefetched_places_are_not_waited_for)
{
	uint64_t low = address_of("described");
	const struct debug_place *places;
	bool known = false;
	unsigned tries;
	pid_t asked;

	/* It is there, and can't have answered when it is stopped. */
	ck_assert_int_eq(debuginfo_places(debuginfo, self, 1, &places), 0);
	asked = reader();
	ck_assert_int_gt(asked, 0);
	ck_assert_int_eq(kill(asked, SIGSTOP), 0);
	for (tries = 0; tries < 100; tries++) {
		ck_assert(!debuginfo_prefetch_places(debuginfo, self, &low, 1));
		usleep(1000);
	}
	ck_assert_int_eq(kill(asked, SIGCONT), 0);
	for (tries = 0; !known && tries < 10000; tries++) {
		known = debuginfo_prefetch_places(debuginfo, self, &low, 1);
		usleep(1000);
	}
	ck_assert(known);
	/* It isn't asked any more. */
	ck_assert_int_eq(kill(asked, SIGSTOP), 0);
	ck_assert_int_eq(debuginfo_places(debuginfo, self, low, &places), 1);
	ck_assert_str_eq(places->function, "described");
	ck_assert_int_eq(kill(asked, SIGCONT), 0);
}
END_TEST

START_TEST(a_reader_that_was_killed_is_replaced)
{
	const struct debug_place *places;
	uint64_t low = address_of("described");
	pid_t first;

	ck_assert_int_eq(debuginfo_places(debuginfo, self, low, &places), 1);
	first = reader();
	ck_assert_int_gt(first, 0);
	kill(first, SIGKILL);
	/* As the run loop would reap it. */
	ck_assert_int_eq(waitpid(first, NULL, 0), first);
	ck_assert_int_eq(debuginfo_places(debuginfo, self, low + 1, &places),
			 1);
	ck_assert_int_ne(reader(), first);
	ck_assert_uint_eq(debuginfo_losses(debuginfo).crashed, 0);
}
END_TEST

START_TEST(an_answer_that_has_come_is_not_asked_for_again)
{
	uint64_t low = address_of("described");

	while (!debuginfo_prefetch_places(debuginfo, self, &low, 1))
		poll(NULL, 0, 1);
	ck_assert(!debuginfo_is_reading(debuginfo));
}
END_TEST

/* How long a function whose answer doesn't come is waited for. */
static uint64_t vain_wait(uint64_t address)
{
	const struct debug_function *function;
	uint64_t begin = clock_now();

	ck_assert_int_eq(debuginfo_function(debuginfo, self, address,
					    &function),
			 -EAGAIN);
	return clock_now() - begin;
}

START_TEST(a_stopped_task_waits_for_a_slow_reader_a_second)
{
	const struct debug_function *function;
	const struct debug_place *places;
	uint64_t low = address_of("described"), first, next = UINT64_MAX;

	ck_assert_int_eq(debuginfo_places(debuginfo, self, low, &places), 1);
	kill(reader(), SIGSTOP);
	first = vain_wait(low);
	/* The next doesn't wait at all, though a busy machine may hold it up. */
	for (int i = 0; i < 20 && next >= first / 2; i++)
		next = vain_wait(low);
	ck_assert_uint_lt(next, first / 2);
	kill(reader(), SIGCONT);
	ck_assert_int_eq(debuginfo_places(debuginfo, self, low + 1, &places),
			 1);
	ck_assert_int_eq(debuginfo_function(debuginfo, self, low, &function),
			 0);
	ck_assert_uint_eq(debuginfo_losses(debuginfo).timed_out, 0);
}
END_TEST

START_TEST(a_reader_that_hangs_is_given_up)
{
	const struct debug_place *places;
	uint64_t low = address_of("described");
	pid_t first;

	ck_assert_int_eq(debuginfo_places(debuginfo, self, low, &places), 1);
	first = reader();
	kill(first, SIGSTOP);
	ck_assert_int_le(debuginfo_places(debuginfo, self, low + 1, &places),
			 0);
	ck_assert_uint_eq(debuginfo_losses(debuginfo).timed_out, 1);
	ck_assert_int_eq(kill(first, 0), -1);
	/* What it had said is still there; more isn't asked. */
	ck_assert_int_eq(debuginfo_places(debuginfo, self, low, &places), 1);
	ck_assert_int_le(debuginfo_places(debuginfo, self, low + 2, &places),
			 0);
	ck_assert_int_eq(reader(), 0);
}
END_TEST

START_TEST(files_without_debug_information_are_no_loss)
{
	const struct debug_function *function;
	const struct debug_place *places;
	static const char none[] = "\177ELF";
	struct image *bare;
	int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(image_open_bytes(none, sizeof(none), "none", &bare),
			 -ENOEXEC);
	ck_assert_int_eq(image_open(fd, "true", &bare), 0);
	close(fd);
	ck_assert_int_eq(debuginfo_places(debuginfo, bare, image_entry(bare),
					  &places),
			 0);
	ck_assert_int_eq(debuginfo_function(debuginfo, bare, image_entry(bare),
					    &function),
			 -ENOENT);
	ck_assert_uint_eq(debuginfo_losses(debuginfo).malformed, 0);
	image_put(bare);
}
END_TEST

static void count_section(const struct object *object, unsigned index,
			  unsigned *infos, unsigned *locations)
{
	const dwarf_object_interface *interface =
		object_interface((struct object *)object);
	dwarf_object_section section;
	int error = 0;

	ck_assert_int_eq(interface->OBJECT_MEMBER(methods)->METHOD(
				 get_section_info)((void *)object, index,
						   &section, &error),
			 DW_DLV_OK);
	*infos += !strcmp(section.SECTION(name), ".debug_info");
	*locations += !strncmp(section.SECTION(name), ".debug_loc", 10);
}

/* libdwarf would have them unpacked before it gives a unit, and nobody asks. */
START_TEST(location_lists_are_not_read)
{
	unsigned infos = 0, locations = 0, count;
	const dwarf_object_interface *interface;
	struct object *object;

	ck_assert_int_eq(object_open(open("/proc/self/exe", O_RDONLY), &object),
			 0);
	interface = object_interface(object);
	count = interface->OBJECT_MEMBER(methods)->METHOD(get_section_count)(
		object);
	for (unsigned i = 0; i < count; i++)
		count_section(object, i, &infos, &locations);
	ck_assert_uint_eq(infos, 1);
	ck_assert_uint_eq(locations, 0);
	object_close(object);
}
END_TEST

static Suite *debuginfo_suite(void)
{
	Suite *suite = suite_create("debuginfo");
	TCase *parts = tcase_create("parts");
	TCase *child = tcase_create("reader");

	tcase_add_test(parts, the_smallest_interval_is_found);
	tcase_add_test(parts, intervals_are_what_a_search_of_all_finds);
	tcase_add_test(parts, an_answer_is_read);
	tcase_add_test(parts, what_is_cut_or_refers_to_nothing_is_refused);
	tcase_add_test(parts, counts_beyond_all_bounds_are_refused);
	tcase_add_test(parts, names_can_not_command_a_terminal);
	tcase_add_test(parts, location_lists_are_not_read);
	tcase_add_checked_fixture(child, open_self, close_self);
	tcase_add_test(child, a_function_is_described);
	tcase_add_test(child, places_are_the_same_one_by_one_and_together);
	tcase_add_test(child, prefetched_places_are_not_waited_for);
	tcase_add_test(child, a_reader_that_was_killed_is_replaced);
	tcase_add_test(child, an_answer_that_has_come_is_not_asked_for_again);
	tcase_add_test(child, a_stopped_task_waits_for_a_slow_reader_a_second);
	tcase_add_test(child, a_reader_that_hangs_is_given_up);
	tcase_add_test(child, files_without_debug_information_are_no_loss);
	suite_add_tcase(suite, parts);
	suite_add_tcase(suite, child);
	return suite;
}

int main(void)
{
	return unit_run(debuginfo_suite());
}
