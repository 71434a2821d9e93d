/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/decimal.h"
#include "base/doing.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "unit.h"

/* ---- what is being done ---- */

static unsigned rooms_made;

static void count_room(void)
{
	rooms_made++;
}

START_TEST(doing_keeps_what_was_said_last)
{
	struct doing place = { "", "" };

	doing("nobody wants to know");
	doing_part("of %s", "that");
	doing_make_room();
	doing_keep(&place, count_room);
	doing("reading %s", "a.rec");
	doing_part("debug information of %s", "libc.so.6");
	ck_assert_str_eq(place.what, "reading a.rec");
	ck_assert_str_eq(place.part, "debug information of libc.so.6");
	doing_part_ended();
	ck_assert_str_eq(place.part, "");
	doing_part("x");
	doing("making %0600d", 1);
	ck_assert_str_eq(place.part, "");
	ck_assert_uint_eq(strlen(place.what), DOING_MAX - 1);
	doing_make_room();
	ck_assert_uint_eq(rooms_made, 1);
	doing_keep(NULL, NULL);
	doing("no more");
	doing_make_room();
	ck_assert_uint_eq(rooms_made, 1);
	ck_assert_str_ne(place.what, "no more");
}
END_TEST

/* ---- printable ---- */

START_TEST(texts_that_may_be_names)
{
	ck_assert(printable_is_ascii("user 1~"));
	ck_assert(!printable_is_ascii("a\tb"));
	ck_assert(!printable_is_ascii("a\177"));
	ck_assert(!printable_is_ascii("\303\244"));
	ck_assert(printable_has_no_controls("\303\244 b"));
	ck_assert(!printable_has_no_controls("a\n"));
	ck_assert(!printable_has_no_controls("\177"));
}
END_TEST

START_TEST(printable_characters_are_left)
{
	char text[] = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8c \xc2\xa0~";
	char *copy = xstrdup(text);

	printable_make(text, strlen(text));
	ck_assert_str_eq(text, copy);
	free(copy);
}
END_TEST

/* ESC, DEL, U+009B (CSI) as UTF-8 and bare, half a character, too long ones */
START_TEST(printable_leaves_no_control_characters)
{
	char text[] = "\033[a\177b\xc2\x9b"
		      "c\x9b"
		      "d\xe2\x82 e\xc0\x9b\xc3";

	printable_make(text, strlen(text));
	ck_assert_str_eq(text, "?[a?b??c?d?? e???");
}
END_TEST

/* U+202E, U+2066, U+200F, U+061C, U+2028; no others are like them. */
START_TEST(printable_turns_no_text_around)
{
	char text[] = "a\xe2\x80\xae"
		      "b\xe2\x81\xa6"
		      "c\xe2\x80\x8f"
		      "d\xd8\x9c"
		      "e\xe2\x80\xa8"
		      "f";
	char plain[] = "\xe2\x80\x94\xe2\x80\xaf\xe2\x81\xa0\xd8\xa1";
	char *copy = xstrdup(plain);

	printable_make(text, strlen(text));
	ck_assert_str_eq(text, "a???b???c???d??e???f");
	printable_make(plain, strlen(plain));
	ck_assert_str_eq(plain, copy);
	free(copy);
}
END_TEST

START_TEST(printable_plain_ends_at_the_first_other_byte)
{
	char text[24];
	unsigned i, c;

	for (i = 0; i < sizeof(text); i++)
		for (c = 0; c < 256; c++) {
			const bool plain = c >= ' ' && c < 0x7f && c != '\\';

			memset(text, 'x', sizeof(text));
			text[i] = (char)c;
			ck_assert_uint_eq(printable_plain(text, sizeof(text),
							  0),
					  plain ? sizeof(text) : i);
			ck_assert_uint_eq(printable_plain(text, sizeof(text),
							  '"'),
					  plain && c != '"' ? sizeof(text) : i);
			ck_assert_uint_eq(printable_plain(text, i, 0), i);
		}
}
END_TEST

/* Memory of a test: bytes at an address, unreadable around them. */
struct island {
	struct memory memory;
	taddr_t start;
	char *bytes;
	size_t size;
	size_t longest_read;
};

static size_t island_read(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct island *island = (struct island *)memory;
	size_t offset = address - island->start;

	if (size > island->longest_read)
		island->longest_read = size;
	if (address < island->start || offset >= island->size)
		return 0;
	if (size > island->size - offset)
		size = island->size - offset;
	memcpy(ret, island->bytes + offset, size);
	return size;
}

static int island_write(struct memory *memory, taddr_t address,
			const void *bytes, size_t size)
{
	struct island *island = (struct island *)memory;
	size_t offset = address - island->start;

	if (address < island->start || offset >= island->size ||
	    size > island->size - offset)
		return -EFAULT;
	memcpy(island->bytes + offset, bytes, size);
	return 0;
}

static const struct memory_ops island_ops = {
	.read = island_read,
	.write = island_write,
};

static struct island island_of(taddr_t start, char *bytes, size_t size)
{
	return (struct island){
		.memory = { &island_ops },
		.start = start,
		.bytes = bytes,
		.size = size,
	};
}

START_TEST(strbuf_begins_empty)
{
	struct strbuf buf = { 0 };

	ck_assert_str_eq(strbuf_text(&buf), "");
	strbuf_fini(&buf);
	ck_assert_str_eq(strbuf_text(&buf), "");
}
END_TEST

START_TEST(strbuf_adds_in_order)
{
	struct strbuf buf = { 0 };

	strbuf_puts(&buf, "strlen");
	strbuf_putc(&buf, '(');
	strbuf_printf(&buf, "%d, \"%s\"", -7, "x");
	strbuf_add(&buf, ")...", 1);
	ck_assert_str_eq(strbuf_text(&buf), "strlen(-7, \"x\")");
	ck_assert_uint_eq(buf.length, 15);
	strbuf_fini(&buf);
}
END_TEST

START_TEST(strbuf_clear_keeps_the_room)
{
	struct strbuf buf = { 0 };
	size_t room;

	strbuf_puts(&buf, "something");
	room = buf.room;
	strbuf_clear(&buf);
	ck_assert_str_eq(strbuf_text(&buf), "");
	ck_assert_uint_eq(buf.length, 0);
	ck_assert_uint_eq(buf.room, room);
	strbuf_fini(&buf);
}
END_TEST

/* Every length around the sizes at which the buffer grows. */
START_TEST(strbuf_grows_at_any_length)
{
	for (size_t n = 0; n < 600; n++) {
		struct strbuf one = { 0 }, other = { 0 };

		for (size_t i = 0; i < n; i++)
			strbuf_putc(&one, 'a' + i % 26);
		strbuf_printf(&other, "%s", strbuf_text(&one));
		ck_assert_uint_eq(one.length, n);
		ck_assert_uint_eq(other.length, n);
		ck_assert_uint_eq(strlen(strbuf_text(&other)), n);
		ck_assert_str_eq(strbuf_text(&one), strbuf_text(&other));
		strbuf_fini(&one);
		strbuf_fini(&other);
	}
}
END_TEST

START_TEST(strbuf_takes_nul_bytes)
{
	struct strbuf buf = { 0 };

	strbuf_add(&buf, "a\0b", 3);
	ck_assert_uint_eq(buf.length, 3);
	ck_assert_mem_eq(buf.text, "a\0b", 4);
	strbuf_fini(&buf);
}
END_TEST

START_TEST(decimals_are_as_printf_has_them)
{
	static const uint64_t words[] = { 0,    1,         9,         10,
					  99,   100,       101,       999,
					  4711, INT64_MAX, UINT64_MAX };
	char found[DECIMAL_SIZE], wanted[32];

	for (unsigned i = 0; i < ARRAY_SIZE(words) * 2; i++) {
		/* Those that are negative with a sign, too. */
		uint64_t word = words[i / 2] + (i % 2 ? 1ull << 63 : 0);

		snprintf(wanted, sizeof(wanted), "%lld", (long long)word);
		ck_assert_str_eq(decimal_text(word, true, found), wanted);
		snprintf(wanted, sizeof(wanted), "%llu",
			 (unsigned long long)word);
		ck_assert_str_eq(decimal_text(word, false, found), wanted);
	}
}
END_TEST

START_TEST(strbuf_adds_numbers_as_printf_has_them)
{
	static const uint64_t words[] = { 0,        7,         999,
					  1000,     1234567,   99999999,
					  1u << 31, INT64_MAX, UINT64_MAX };
	struct strbuf buf = { 0 };
	char wanted[128];

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		const unsigned long long word = words[i];

		strbuf_clear(&buf);
		strbuf_add_decimal(&buf, word, true);
		strbuf_putc(&buf, ' ');
		strbuf_add_decimal(&buf, word, false);
		strbuf_putc(&buf, ' ');
		strbuf_add_hex(&buf, word);
		strbuf_add_micros(&buf, word);
		strbuf_add_nanos(&buf, word);
		snprintf(wanted, sizeof(wanted),
			 "%lld %llu %#llx.%06llu.%09llu", (long long)word, word,
			 word, word % 1000000000 / 1000, word % 1000000000);
		ck_assert_str_eq(strbuf_text(&buf), wanted);
	}
	strbuf_fini(&buf);
}
END_TEST

START_TEST(strbuf_adds_numbers_of_any_length)
{
	struct strbuf buf = { 0 };
	char wanted[64];
	unsigned digits, off;
	uint64_t power = 1;

	for (digits = 1; digits <= 20; digits++, power *= 10)
		for (off = 0; off < 3; off++) {
			const unsigned long long word = power + off - 1;

			strbuf_clear(&buf);
			strbuf_add_decimal(&buf, word, false);
			strbuf_putc(&buf, ' ');
			strbuf_add_decimal(&buf, -word, true);
			snprintf(wanted, sizeof(wanted), "%llu %lld", word,
				 -(long long)word);
			ck_assert_str_eq(strbuf_text(&buf), wanted);
			ck_assert_uint_eq(buf.length, strlen(wanted));
		}
	strbuf_fini(&buf);
}
END_TEST

START_TEST(strbuf_pads_up_to_a_column)
{
	struct strbuf buf = { 0 };

	strbuf_pad(&buf, 3);
	ck_assert_str_eq(strbuf_text(&buf), "   ");
	strbuf_puts(&buf, "abc");
	strbuf_pad(&buf, 4);
	ck_assert_str_eq(strbuf_text(&buf), "   abc");
	strbuf_pad(&buf, 8);
	ck_assert_str_eq(strbuf_text(&buf), "   abc  ");
	strbuf_pad(&buf, 500);
	ck_assert_uint_eq(strlen(strbuf_text(&buf)), 500);
	strbuf_fini(&buf);
}
END_TEST

START_TEST(cursor_reads_little_endian)
{
	const uint8_t bytes[] = { 1, 2,  3,  4,  5,  6,  7, 8,
				  9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = cursor_of(bytes, sizeof(bytes));

	ck_assert_uint_eq(cursor_u8(&c), 0x01);
	ck_assert_uint_eq(cursor_u16(&c), 0x0302);
	ck_assert_uint_eq(cursor_u32(&c), 0x07060504);
	ck_assert_uint_eq(cursor_u64(&c), 0x0f0e0d0c0b0a0908);
	ck_assert(cursor_at_end(&c));
	ck_assert(!c.bad);
	cursor_seek(&c, 3);
	ck_assert_uint_eq(cursor_word(&c, 4), 0x07060504);
	cursor_seek(&c, 7);
	ck_assert_uint_eq(cursor_word(&c, 8), 0x0f0e0d0c0b0a0908);
}
END_TEST

START_TEST(cursor_reads_nothing_past_the_end)
{
	const uint8_t bytes[] = { 1, 2, 3 };
	struct cursor c = cursor_of(bytes, sizeof(bytes));

	ck_assert_uint_eq(cursor_u32(&c), 0);
	ck_assert(c.bad);
	ck_assert(cursor_at_end(&c));
	/* There would be a byte, but the record is broken. */
	ck_assert_uint_eq(cursor_u8(&c), 0);
	ck_assert_ptr_null(cursor_bytes(&c, 1));
}
END_TEST

START_TEST(cursor_moves_inside_only)
{
	const uint8_t bytes[] = { 1, 2, 3 };
	struct cursor c = cursor_of(bytes, sizeof(bytes));

	cursor_seek(&c, 3);
	ck_assert(!c.bad && cursor_at_end(&c));
	cursor_seek(&c, 0);
	cursor_skip(&c, 2);
	ck_assert_uint_eq(cursor_u8(&c), 3);
	cursor_seek(&c, 4);
	ck_assert(c.bad);

	c = cursor_of(bytes, sizeof(bytes));
	cursor_skip(&c, 1);
	cursor_skip(&c, UINT64_MAX);
	ck_assert(c.bad);
	ck_assert_uint_le(c.position, 3);
}
END_TEST

START_TEST(cursor_part_stays_inside)
{
	const uint8_t bytes[] = { 1, 2, 3, 4 };
	struct cursor whole = cursor_of(bytes, sizeof(bytes));
	struct cursor part = cursor_part(&whole, 1, 2);

	ck_assert_uint_eq(cursor_u16(&part), 0x0302);
	ck_assert_uint_eq(cursor_u8(&part), 0);
	ck_assert(part.bad && !whole.bad);
	ck_assert(!cursor_part(&whole, 4, 0).bad);
	ck_assert(cursor_part(&whole, 5, 0).bad);
	ck_assert(cursor_part(&whole, 2, 3).bad);
	ck_assert(cursor_part(&whole, 2, UINT64_MAX).bad);
	ck_assert(cursor_part(&whole, UINT64_MAX, 2).bad);
	ck_assert(cursor_part(&part, 0, 1).bad);
}
END_TEST

START_TEST(cursor_finds_only_ended_strings)
{
	const char bytes[] = { 'a', 'b', '\0', 'c', 'd' };
	struct cursor c = cursor_of(bytes, sizeof(bytes));

	ck_assert_str_eq(cursor_string_at(&c, 0), "ab");
	ck_assert_str_eq(cursor_string_at(&c, 2), "");
	ck_assert_ptr_null(cursor_string_at(&c, 3));
	ck_assert_ptr_null(cursor_string_at(&c, 5));
	ck_assert_ptr_null(cursor_string_at(&c, UINT64_MAX));
}
END_TEST

START_TEST(memory_is_all_or_nothing)
{
	char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct island island = island_of(0x1000, bytes, sizeof(bytes));
	uint8_t got[8];

	ck_assert_int_eq(memory_read(&island.memory, 0x1000, got, 8), 0);
	ck_assert_mem_eq(got, bytes, 8);
	ck_assert_int_eq(memory_read(&island.memory, 0x1001, got, 8), -EFAULT);
	ck_assert_int_eq(memory_read(&island.memory, 0xfff, got, 1), -EFAULT);
	ck_assert_uint_eq(memory_read_some(&island.memory, 0x1006, got, 8), 2);
	ck_assert_int_eq(memory_write(&island.memory, 0x1007, "z", 1), 0);
	ck_assert_int_eq(bytes[7], 'z');
	ck_assert_int_eq(memory_write(&island.memory, 0x1007, "zz", 2),
			 -EFAULT);
}
END_TEST

START_TEST(memory_words_have_two_sizes)
{
	char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1, -1 };
	struct island island = island_of(0x1000, bytes, sizeof(bytes));
	uint64_t word = 42;

	ck_assert_int_eq(memory_read_word(&island.memory, 0x1000, 8, &word), 0);
	ck_assert_uint_eq(word, 0x0807060504030201);
	ck_assert_int_eq(memory_read_word(&island.memory, 0x1008, 4, &word), 0);
	ck_assert_uint_eq(word, 0xffffffff);
	ck_assert_int_eq(memory_read_word(&island.memory, 0x1008, 8, &word),
			 -EFAULT);
	ck_assert_uint_eq(word, 0xffffffff);
}
END_TEST

START_TEST(memory_strings_end_somewhere)
{
	char bytes[] = "one\0\0two";
	struct island island = island_of(0x1000, bytes, 8);
	char text[16];

	ck_assert_int_eq(memory_read_string(&island.memory, 0x1000, text, 16),
			 3);
	ck_assert_str_eq(text, "one");
	ck_assert_int_eq(memory_read_string(&island.memory, 0x1004, text, 16),
			 0);
	ck_assert_str_eq(text, "");
	/* The end of what can be read cuts it, and so does the room. */
	ck_assert_int_eq(memory_read_string(&island.memory, 0x1005, text, 16),
			 3);
	ck_assert_str_eq(text, "two");
	ck_assert_int_eq(memory_read_string(&island.memory, 0x1000, text, 3),
			 2);
	ck_assert_str_eq(text, "on");
	ck_assert_int_eq(memory_read_string(&island.memory, 0x1008, text, 16),
			 -EFAULT);
	ck_assert_int_eq(memory_read_string(&island.memory, 0x1000, text, 1),
			 0);
}
END_TEST

START_TEST(memory_strings_cross_pages)
{
	const size_t size = 3 * 4096;
	char *bytes = xmalloc(size);
	char *text = xmalloc(size);
	struct island island = island_of(0x10800, bytes, size);

	memset(bytes, 'x', size);
	bytes[size - 1] = '\0';
	ck_assert_int_eq(memory_read_string(&island.memory, 0x10800, text,
					    size),
			 (long)size - 1);
	ck_assert_uint_eq(strlen(text), size - 1);
	/* No read may run into a page that is perhaps not there. */
	ck_assert_uint_le(island.longest_read, 4096);
	free(bytes);
	free(text);
}
END_TEST

START_TEST(xgrow_makes_room_for_one_more)
{
	int *numbers = NULL;
	size_t n = 0, room = 0;

	while (n < 1000) {
		numbers = xgrow(numbers, n, &room, sizeof(*numbers));
		ck_assert_uint_gt(room, n);
		numbers[n] = n * 3;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(numbers[i], i * 3);
	free(numbers);
}
END_TEST

START_TEST(xalloc_copies)
{
	char *whole = xstrdup("library");
	char *part = xstrndup("library", 3);
	char *beyond = xstrndup("lib", 30);
	char *formatted = xasprintf("%s.so.%d", part, 6);

	ck_assert_str_eq(whole, "library");
	ck_assert_str_eq(part, "lib");
	ck_assert_str_eq(beyond, "lib");
	ck_assert_str_eq(formatted, "lib.so.6");
	free(whole);
	free(part);
	free(beyond);
	free(formatted);
}
END_TEST

START_TEST(xalloc_of_nothing_is_something)
{
	void *p = xmalloc(0);
	uint8_t *zeroed = xcalloc(10, 2);

	ck_assert_ptr_nonnull(p);
	for (int i = 0; i < 20; i++)
		ck_assert_uint_eq(zeroed[i], 0);
	free(p);
	free(zeroed);
	p = xcalloc(0, 8);
	ck_assert_ptr_nonnull(p);
	free(p);
}
END_TEST

static void leave_with_seven(void *context)
{
	_exit(*(int *)context);
}

/* Runs in a child: the hook takes over before the abort. */
START_TEST(running_out_of_memory_calls_the_hook)
{
	static int seven = 7;
	volatile size_t too_much = SIZE_MAX / 2;

	fatal_set_hook(leave_with_seven, &seven);
	free(xreallocarray(NULL, too_much, 4));
}
END_TEST

static void do_nothing(void *context UNUSED)
{
}

START_TEST(fatal_aborts_when_the_hook_returns)
{
	fatal_set_hook(do_nothing, NULL);
	fatal("this message belongs to the test");
}
END_TEST

static TCase *strbuf_case(void)
{
	TCase *c = tcase_create("strbuf");

	tcase_add_test(c, doing_keeps_what_was_said_last);
	tcase_add_test(c, texts_that_may_be_names);
	tcase_add_test(c, printable_characters_are_left);
	tcase_add_test(c, printable_leaves_no_control_characters);
	tcase_add_test(c, printable_turns_no_text_around);
	tcase_add_test(c, printable_plain_ends_at_the_first_other_byte);
	tcase_add_test(c, strbuf_begins_empty);
	tcase_add_test(c, strbuf_adds_in_order);
	tcase_add_test(c, strbuf_clear_keeps_the_room);
	tcase_add_test(c, strbuf_grows_at_any_length);
	tcase_add_test(c, strbuf_takes_nul_bytes);
	tcase_add_test(c, decimals_are_as_printf_has_them);
	tcase_add_test(c, strbuf_adds_numbers_of_any_length);
	tcase_add_test(c, strbuf_adds_numbers_as_printf_has_them);
	tcase_add_test(c, strbuf_pads_up_to_a_column);
	return c;
}

static TCase *cursor_case(void)
{
	TCase *c = tcase_create("cursor");

	tcase_add_test(c, cursor_reads_little_endian);
	tcase_add_test(c, cursor_reads_nothing_past_the_end);
	tcase_add_test(c, cursor_moves_inside_only);
	tcase_add_test(c, cursor_part_stays_inside);
	tcase_add_test(c, cursor_finds_only_ended_strings);
	return c;
}

static TCase *memory_case(void)
{
	TCase *c = tcase_create("memory");

	tcase_add_test(c, memory_is_all_or_nothing);
	tcase_add_test(c, memory_words_have_two_sizes);
	tcase_add_test(c, memory_strings_end_somewhere);
	tcase_add_test(c, memory_strings_cross_pages);
	return c;
}

START_TEST(wall_clock_keeps_the_order)
{
	struct wall_clock clock = { 0 };
	uint64_t now = clock_now(), last = 0, i;

	/* Many times as long as what it is looked at again for. */
	for (i = 0; i < 100000; i++, now += 1000) {
		const uint64_t before = clock.error;
		const uint64_t wall = wall_clock_at(&clock, now);

		ck_assert_uint_ge(wall + before + clock.error, last + 1000);
		last = wall;
	}
}
END_TEST

START_TEST(wall_clock_is_the_wall_clock)
{
	struct wall_clock clock = { 0 };
	struct timespec before, after;
	uint64_t wall;

	clock_gettime(CLOCK_REALTIME, &before);
	wall = wall_clock_at(&clock, clock_now());
	clock_gettime(CLOCK_REALTIME, &after);
	ck_assert_uint_ge(wall + clock.error,
			  before.tv_sec * NS_PER_SECOND + before.tv_nsec);
	ck_assert_uint_le(wall, after.tv_sec * NS_PER_SECOND + after.tv_nsec +
					clock.error);
}
END_TEST

START_TEST(wall_clock_may_be_set)
{
	struct wall_clock clock = { 0 };
	const uint64_t now = clock_now(), wall = wall_clock_at(&clock, now);
	uint64_t later;

	clock.ahead -= 3600 * NS_PER_SECOND;
	ck_assert_uint_eq(wall_clock_at(&clock, now),
			  wall - 3600 * NS_PER_SECOND);
	later = wall_clock_at(&clock, clock.until);
	ck_assert_uint_ge(later, wall);
	ck_assert_uint_le(later - wall, 3600 * NS_PER_SECOND);
}
END_TEST

static TCase *clock_case(void)
{
	TCase *c = tcase_create("clock");

	tcase_add_test(c, wall_clock_keeps_the_order);
	tcase_add_test(c, wall_clock_is_the_wall_clock);
	tcase_add_test(c, wall_clock_may_be_set);
	return c;
}

static TCase *xalloc_case(void)
{
	TCase *c = tcase_create("xalloc");

	tcase_add_test(c, xgrow_makes_room_for_one_more);
	tcase_add_test(c, xalloc_copies);
	tcase_add_test(c, xalloc_of_nothing_is_something);
	tcase_add_exit_test(c, running_out_of_memory_calls_the_hook, 7);
	tcase_add_test_raise_signal(c, fatal_aborts_when_the_hook_returns,
				    SIGABRT);
	return c;
}

static Suite *base_suite(void)
{
	Suite *suite = suite_create("base");

	suite_add_tcase(suite, strbuf_case());
	suite_add_tcase(suite, cursor_case());
	suite_add_tcase(suite, memory_case());
	suite_add_tcase(suite, clock_case());
	suite_add_tcase(suite, xalloc_case());
	return suite;
}

int main(void)
{
	return unit_run(base_suite());
}
