/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <stdlib.h>

#include "heap/timeline.h"

/* Against blocks that are remembered one by one. */
#define BLOCKS 3000

struct block {
	uint64_t birth, end, bytes; /* end: 0 = held */
};

static struct block blocks[BLOCKS];
static struct timeline timeline;
static struct timeline_cells cells;

static void setup(void)
{
	srandom(7);
}

static void teardown(void)
{
	timeline_cells_fini(&cells);
	timeline = (struct timeline){ 0 };
}

/* As the cells are to have it. */
static uint64_t held_of_range(uint64_t begin, uint64_t end)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].birth >= begin && blocks[i].birth < end &&
		    (!blocks[i].end || blocks[i].end >= end))
			bytes += blocks[i].bytes;
	return bytes;
}

static uint64_t held_of_cells(unsigned first, unsigned end)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cells.count; i++)
		if (cells.list[i].acquired >= first &&
		    cells.list[i].acquired < end && cells.list[i].gone >= end)
			bytes += cells.list[i].bytes;
	return bytes;
}

static void run(uint64_t step)
{
	uint64_t now = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		size_t old = random() % BLOCKS;

		now += random() % step;
		blocks[i] = (struct block){ now, 0, random() % 1000 };
		timeline_acquired(&timeline, &cells, now, 1, blocks[i].bytes);
		if (old > i || blocks[old].end)
			continue;
		now += random() % step;
		blocks[old].end = now;
		/* To 1024 ns, as it is kept. */
		timeline_gone(&timeline, &cells, blocks[old].birth & ~1023ull,
			      now, 1, blocks[old].bytes);
	}
}

START_TEST(any_range)
{
	uint64_t interval;

	run(_i ? 100 * SECOND : SECOND / 2000);
	interval = timeline_interval(&timeline);
	ck_assert_uint_le(timeline.count, TIMELINE_INTERVALS);
	ck_assert_uint_gt(timeline.count, TIMELINE_INTERVALS / 2);
	for (unsigned first = 0; first < timeline.count; first += 5)
		for (unsigned end = first; end <= timeline.count; end += 3)
			ck_assert_uint_eq(held_of_cells(first, end),
					  held_of_range(first * interval,
							end * interval));
	ck_assert_uint_le(cells.count,
			  TIMELINE_INTERVALS * (TIMELINE_INTERVALS + 3) / 2);
}
END_TEST

START_TEST(part_of_a_block)
{
	timeline_acquired(&timeline, &cells, 0, 1, 100);
	timeline_gone(&timeline, &cells, 0, SECOND / 4, 0, 30);
	ck_assert_uint_eq(cells.count, 2);
	ck_assert_uint_eq(held_of_cells(0, timeline.count), 70);
	timeline_gone(&timeline, &cells, 0, SECOND / 4, 1, 70);
	ck_assert_uint_eq(held_of_cells(0, timeline.count - 1), 100);
	ck_assert_uint_eq(held_of_cells(0, timeline.count), 0);
}
END_TEST

/* What isn't there can't be taken away. */
START_TEST(more_than_there_is)
{
	timeline_gone(&timeline, &cells, 0, SECOND, 1, 10);
	ck_assert_uint_eq(cells.count, 0);
	timeline_acquired(&timeline, &cells, SECOND, 1, 10);
	timeline_gone(&timeline, &cells, SECOND, SECOND, 5, 50);
	ck_assert_uint_eq(cells.list[0].bytes + cells.list[1].bytes, 10);
	ck_assert_uint_eq(cells.list[0].blocks + cells.list[1].blocks, 1);
}
END_TEST

START_TEST(of_a_heap)
{
	const struct timeline *of_heap;
	const struct site *site;
	struct fixture f;

	fixture_init(&f, &(struct heap_options){ .timeline = true });
	acquire(&f, "malloc", 0x10, 100);
	f.now += 3 * SECOND;
	acquire(&f, "malloc", 0x20, 50);
	release(&f, "free", 0x10, 0);
	f.now += 7 * SECOND;
	of_heap = heap_timeline(f.heap, f.now);
	ck_assert_uint_eq(of_heap->count,
			  10 * SECOND / timeline_interval(of_heap) + 1);
	site = site_of(&f, 1, NULL);
	ck_assert_uint_eq(site->times_of_blocks.count, 3);
	fixture_fini(&f);
}
END_TEST

static Suite *timeline_suite(void)
{
	Suite *suite = suite_create("timeline");
	TCase *tcase = tcase_create("timeline");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, any_range, 0, 2);
	tcase_add_test(tcase, part_of_a_block);
	tcase_add_test(tcase, more_than_there_is);
	tcase_add_test(tcase, of_a_heap);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(timeline_suite());
}
