/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "recording/block.h"
#include "recording/cost_note.h"
#include "recording/events.h"
#include "recording/numbers.h"

static uint64_t state = 1;

/* Of any size: small numbers as often as large ones. */
static uint64_t random_number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> (state >> 58);
}

START_TEST(test_numbers)
{
	struct strbuf out = { 0 };
	uint64_t numbers[200];
	struct cursor in;

	numbers[0] = 0;
	numbers[1] = UINT64_MAX;
	for (size_t i = 2; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = random_number();
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		put_varint(&out, numbers[i]);
	in = cursor_of(out.text, out.length);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		ck_assert_uint_eq(take_varint(&in), numbers[i]);
	ck_assert(!in.bad && cursor_at_end(&in));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		ck_assert_uint_eq(unzigzag(zigzag(numbers[i])), numbers[i]);
	ck_assert_uint_eq(zigzag(-1), 1);
	ck_assert_uint_eq(zigzag(1), 2);
	strbuf_fini(&out);
}
END_TEST

START_TEST(test_bad_numbers)
{
	static const uint8_t endless[] = { 0x80, 0x80 };
	static const uint8_t large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x02 };
	struct cursor in = cursor_of(endless, sizeof(endless));

	(void)take_varint(&in);
	ck_assert(in.bad);
	in = cursor_of(large, sizeof(large));
	(void)take_varint(&in);
	ck_assert(in.bad);
}
END_TEST

static struct recorded_event random_event(void)
{
	static const uint8_t body[] = { 1, 2, 3 };
	struct recorded_event event = {
		.kind = random_number() % RECORDED_KINDS,
		.time = random_number(),
	};

	if (event.kind == RECORDED_NOTE) {
		event.note = random_number() % 100;
		event.body = body;
		event.body_size = random_number() % 4;
		return event;
	}
	event.failed = random_number() & 1;
	event.unkept = random_number() & 1;
	event.further = random_number() & 1;
	event.thread = random_number();
	event.site = random_number();
	event.call = random_number();
	event.handle = random_number() % 64 << 4;
	event.old = random_number() % 64 << 4;
	event.size = random_number();
	event.old_size = random_number();
	event.count = random_number();
	event.item = random_number();
	if (event.kind == RECORDED_CALL)
		event.wait = random_number();
	if (event.kind == RECORDED_RETURN || event.kind == RECORDED_CALL ||
	    event.kind == RECORDED_END) {
		event.duration = random_number();
		event.correction = random_number();
	}
	return event;
}

static void check_event(const struct recorded_event *found,
			const struct recorded_event *wanted)
{
	struct recorded_event a = *found, b = *wanted;

	ck_assert_uint_eq(a.body_size, b.body_size);
	if (a.body_size)
		ck_assert(!memcmp(a.body, b.body, a.body_size));
	a.body = b.body = NULL;
	ck_assert_uint_eq(a.kind, b.kind);
	ck_assert_uint_eq(a.time, b.time);
	ck_assert_uint_eq(a.handle, b.handle);
	ck_assert_uint_eq(a.old, b.old);
	ck_assert(a.failed == b.failed && a.unkept == b.unkept &&
		  a.further == b.further && a.wait == b.wait &&
		  a.duration == b.duration && a.correction == b.correction &&
		  a.thread == b.thread && a.site == b.site &&
		  a.call == b.call && a.size == b.size &&
		  a.old_size == b.old_size && a.count == b.count &&
		  a.item == b.item && a.note == b.note);
}

#define EVENTS 5000

START_TEST(test_events)
{
	static struct recorded_event events[EVENTS];
	struct event_block block = { 0 };
	struct event_reader reader = { 0 };
	struct strbuf text = { 0 };

	/* A block that is filled again begins anew. */
	for (unsigned round = 0; round < 2; round++) {
		struct recorded_event found;

		for (size_t i = 0; i < EVENTS; i++) {
			events[i] = random_event();
			event_block_add(&block, &events[i]);
		}
		ck_assert_uint_eq(block.count, EVENTS);
		strbuf_clear(&text);
		event_block_take(&block, &text);
		ck_assert(event_reader_begin(&reader, text.text, text.length,
					     EVENTS));
		for (size_t i = 0; i < EVENTS; i++) {
			ck_assert_int_eq(event_reader_next(&reader, &found), 1);
			check_event(&found, &events[i]);
		}
		ck_assert_int_eq(event_reader_next(&reader, &found), 0);
	}
	event_reader_fini(&reader);
	event_block_fini(&block);
	strbuf_fini(&text);
}
END_TEST

/* Each change of a bit is noticed, in the head and behind it. */
START_TEST(test_block)
{
	const struct block_head given = { .kind = BLOCK_EVENTS,
					  .sequence = 7,
					  .count = 3,
					  .first_time = 1,
					  .last_time = UINT64_MAX };
	struct strbuf file = { 0 }, plain = { 0 }, found = { 0 };
	struct block_head head;

	for (unsigned i = 0; i < 1000; i++)
		strbuf_printf(&plain, "%u ", i % 37);
	block_add(&file, &given, plain.text, plain.length);
	for (size_t bit = 0; bit < 8 * file.length; bit++) {
		uint8_t *bytes = (uint8_t *)file.text;
		const char *problem;

		bytes[bit / 8] ^= 1 << bit % 8;
		problem = block_head_parse(bytes, &head);
		if (!problem)
			problem = block_expand(&head, bytes + BLOCK_HEAD_SIZE,
					       &found);
		ck_assert_ptr_nonnull(problem);
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	ck_assert_ptr_null(block_head_parse((uint8_t *)file.text, &head));
	ck_assert_ptr_null(block_expand(&head, file.text + BLOCK_HEAD_SIZE,
					&found));
	ck_assert(head.is_compressed && head.sequence == 7 && head.count == 3);
	ck_assert_uint_eq(found.length, plain.length);
	ck_assert(!memcmp(found.text, plain.text, plain.length));
	strbuf_fini(&file);
	strbuf_fini(&plain);
	strbuf_fini(&found);
}
END_TEST

/* What a writer makes, a reader takes, however well it can be compressed. */
START_TEST(test_growth)
{
	static const enum block_kind kinds[] = { BLOCK_DICTIONARY,
						 BLOCK_EVENTS };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct block_head given = { .kind = kinds[i] };
		struct strbuf file = { 0 }, zeros = { 0 };
		struct block_head head;

		strbuf_pad(&zeros, 4 << 20);
		block_add(&file, &given, zeros.text, zeros.length);
		ck_assert_ptr_null(block_head_parse((uint8_t *)file.text,
						    &head));
		ck_assert(!head.is_compressed);
		strbuf_fini(&file);
		strbuf_fini(&zeros);
	}
}
END_TEST

START_TEST(test_notes)
{
	struct heap_cost cost = { .stopped_ns = 5 }, found;
	struct strbuf out = { 0 };
	struct cursor in;

	cost.cost.stops = 9;
	cost.cost.thread_count = 1;
	cost.cost.threads[0].tid = 77;
	strcpy(cost.cost.threads[0].name, "worker");
	cost.cost.threads[0].still_ns = UINT64_MAX;
	cost.stacks.cut = 3;
	cost_note_put(&out, &cost);
	in = cursor_of(out.text, out.length);
	cost_note_take(&in, &found);
	ck_assert(!in.bad && cursor_at_end(&in));
	ck_assert(!memcmp(&found, &cost, sizeof(cost)));
	strbuf_fini(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording");
	TCase *tests = tcase_create("recording");

	tcase_add_test(tests, test_numbers);
	tcase_add_test(tests, test_bad_numbers);
	tcase_add_test(tests, test_events);
	tcase_add_test(tests, test_block);
	tcase_add_test(tests, test_growth);
	tcase_add_test(tests, test_notes);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
