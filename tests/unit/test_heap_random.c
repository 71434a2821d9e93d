/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "heap/live.h"

/* Random acts, against models that are too simple to be wrong. */

static struct fixture f;
static uint64_t state;

static unsigned pick(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static void setup(void)
{
	fixture_init(&f, NULL);
}

static void teardown(void)
{
	fixture_fini(&f);
}

#define HANDLES 3000
#define STACKS  7
#define THREADS 5

/* What lives at a handle; size 0: nothing. */
struct model_block {
	uint64_t size;
	stack_id stack;
	uint64_t birth;
	unsigned number; /* of the acquisition */
};

static struct model_block model[HANDLES];

/* What is held of each stack, each block counted; and what was when that was
   most. */
struct model_held {
	uint64_t blocks[STACKS + 1], bytes[STACKS + 1];
};

static struct {
	struct model_held at_peak;
	uint64_t bytes, peak, temporary[STACKS + 1];
	unsigned acquisitions;
} history;

/* A resize that a thread is in. */
static struct {
	bool running, will_fail;
	struct heap_act act;
	struct model_block old;
} inside[THREADS];

static uint64_t address(unsigned handle)
{
	return 0x7f0000000000 + handle * 16ull;
}

static bool is_free(unsigned handle)
{
	if (model[handle].size)
		return false;
	for (unsigned t = 0; t < THREADS; t++)
		if (inside[t].running && inside[t].will_fail &&
		    inside[t].act.old == address(handle))
			return false;
	return true;
}

static void random_acquire(unsigned handle)
{
	f.stack = 1 + pick(STACKS);
	model[handle] = (struct model_block){ 1 + pick(100000), f.stack, f.now,
					      ++history.acquisitions };
	history.bytes += model[handle].size;
	acquire(&f, "malloc", address(handle), model[handle].size);
}

static void begin_resize(unsigned t, unsigned handle)
{
	struct heap_act act = fixture_act(&f, "realloc");

	act.call = 1 + f.call++;
	act.stack = 1 + pick(STACKS);
	act.old = address(handle);
	act.size = 1 + pick(100000);
	inside[t].running = true;
	inside[t].will_fail = pick(4) == 0;
	inside[t].act = act;
	inside[t].old = model[handle];
	model[handle].size = 0;
	heap_begin(f.heap, &act);
}

static void end_resize(unsigned t, unsigned handle)
{
	struct heap_act *act = &inside[t].act;
	unsigned old = (act->old - address(0)) / 16;

	inside[t].running = false;
	act->end = f.now;
	act->failed = inside[t].will_fail;
	if (inside[t].will_fail) {
		model[old] = inside[t].old;
		if (pick(3) == 0) {
			heap_abandon(f.heap, act);
			return;
		}
	} else {
		if (is_free(old) && pick(2))
			handle = old;   /* in place */
		if (!is_free(handle)) { /* the process ends here */
			inside[t].running = true;
			return;
		}
		act->handle = address(handle);
		model[handle] = (struct model_block){ act->size, act->stack,
						      f.now,
						      ++history.acquisitions };
		history.bytes += act->size - inside[t].old.size;
	}
	heap_act(f.heap, act);
}

static void random_release(unsigned handle)
{
	struct model_block *block = &model[handle];

	history.temporary[block->stack] += block->number ==
					   history.acquisitions;
	history.bytes -= block->size;
	release(&f, "free", address(handle), 0);
	block->size = 0;
}

static void random_act(void)
{
	unsigned handle = pick(HANDLES), t = pick(THREADS);

	f.now += pick(1000000);
	if (inside[t].running) {
		end_resize(t, handle);
	} else if (model[handle].size && pick(3) == 0) {
		begin_resize(t, handle);
	} else if (model[handle].size) {
		random_release(handle);
	} else if (is_free(handle)) {
		random_acquire(handle);
	}
}

/* Until a resize has ended, its old block counts. */
static struct model_held held_now(void)
{
	struct model_held held = { 0 };

	for (unsigned i = 0; i < HANDLES; i++) {
		held.blocks[model[i].stack] += model[i].size != 0;
		held.bytes[model[i].stack] += model[i].size;
	}
	for (unsigned t = 0; t < THREADS; t++) {
		if (!inside[t].running)
			continue;
		held.blocks[inside[t].old.stack]++;
		held.bytes[inside[t].old.stack] += inside[t].old.size;
	}
	return held;
}

static void note_peak(void)
{
	if (history.bytes <= history.peak)
		return;
	history.peak = history.bytes;
	history.at_peak = held_now();
}

static void compare_peak(void)
{
	const struct heap_total *total = total_of(&f, "malloc");
	struct model_held found = { 0 };
	uint64_t temporary[STACKS + 1] = { 0 };
	uint64_t held = 0, blocks = 0, all = 0;

	for (size_t i = 1; i <= heap_site_count(f.heap); i++) {
		const struct site *site = heap_site(f.heap, i);
		struct site_amount at_peak = heap_at_peak(f.heap, site);

		found.blocks[site->stack] += at_peak.blocks;
		found.bytes[site->stack] += at_peak.bytes;
		temporary[site->stack] += site->temporary.blocks;
	}
	for (stack_id s = 1; s <= STACKS; s++) {
		ck_assert_uint_eq(found.blocks[s], history.at_peak.blocks[s]);
		ck_assert_uint_eq(found.bytes[s], history.at_peak.bytes[s]);
		ck_assert_uint_eq(temporary[s], history.temporary[s]);
		held += history.at_peak.bytes[s];
		blocks += found.blocks[s];
		all += temporary[s];
	}
	ck_assert_uint_eq(held, history.peak);
	ck_assert_uint_eq(total->peak_bytes, history.peak);
	ck_assert_uint_eq(total->at_peak_blocks, blocks);
	ck_assert_uint_eq(total->temporary_blocks, all);
}

static void compare_sites(const struct model_held *held)
{
	for (stack_id s = 1; s <= STACKS; s++) {
		uint64_t site_blocks = 0, site_bytes = 0;

		for (size_t i = 1; i <= heap_site_count(f.heap); i++) {
			const struct site *site = heap_site(f.heap, i);

			if (site->stack != s)
				continue;
			site_blocks += site->blocks;
			site_bytes += site->bytes;
			ck_assert_uint_eq(site->alloc_blocks -
						  site->freed_blocks,
					  site->blocks);
			ck_assert_uint_eq(site->alloc_bytes - site->freed_bytes,
					  site->bytes);
		}
		ck_assert_uint_eq(site_blocks, held->blocks[s]);
		ck_assert_uint_eq(site_bytes, held->bytes[s]);
	}
}

static void compare(void)
{
	const struct model_held held = held_now();
	struct heap_walk walk = { 0 };
	struct heap_block block;
	unsigned count = 0, live = 0;

	while (heap_next_block(f.heap, &walk, &block)) {
		const struct model_block *m =
			&model[(block.handle - address(0)) / 16];

		ck_assert_uint_eq(block.size, m->size);
		ck_assert_uint_eq(block.site->stack, m->stack);
		ck_assert(m->birth - block.birth < 1024);
		count++;
	}
	for (unsigned i = 0; i < HANDLES; i++)
		live += model[i].size != 0;
	ck_assert_uint_eq(count, live);
	compare_sites(&held);
}

START_TEST(handles)
{
	state = _i;
	memset(model, 0, sizeof(model));
	memset(inside, 0, sizeof(inside));
	memset(&history, 0, sizeof(history));
	for (unsigned i = 0; i < 60000; i++) {
		random_act();
		note_peak();
		if (i % 2000 == 0)
			compare();
		if (i % 500 == 0)
			compare_peak();
	}
	compare();
	compare_peak();
	ck_assert_uint_eq(total_of(&f, "malloc")->reused, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->unknown_frees, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 0);
	ck_assert_uint_gt(total_of(&f, "malloc")->in_flight, 10);
	ck_assert_uint_gt(total_of(&f, "malloc")->temporary_blocks, 5);
}
END_TEST

#define PAGES 200
#define PAGE  4096ull
#define BASE  0x10000000ull

/* The number of the act that mapped a page; 0: none. */
static unsigned page_owner[PAGES];

/* … when there were most. */
static unsigned peak_owner[PAGES], peak_pages;

/* What was mapped last, and how often that went before something else came. */
static unsigned last_owner, gone_at_once;

static unsigned pages_of(const unsigned *owners, unsigned owner)
{
	unsigned pages = 0;

	for (unsigned i = 0; i < PAGES; i++)
		pages += owners[i] == owner;
	return pages;
}

static void note_peak_pages(void)
{
	unsigned pages = PAGES - pages_of(page_owner, 0);

	if (pages <= peak_pages)
		return;
	peak_pages = pages;
	memcpy(peak_owner, page_owner, sizeof(peak_owner));
}

static void compare_peak_pages(void)
{
	for (size_t i = 1; i <= heap_site_count(f.heap); i++) {
		const struct site *site = heap_site(f.heap, i);

		ck_assert_uint_eq(heap_at_peak(f.heap, site).bytes,
				  pages_of(peak_owner, site->stack) * PAGE);
	}
	ck_assert_uint_eq(total_of(&f, "mmap")->peak_bytes, peak_pages * PAGE);
	ck_assert_uint_eq(total_of(&f, "mmap")->temporary_blocks, gone_at_once);
}

static void random_span(unsigned *first, unsigned *count)
{
	*count = 1 + pick(pick(4) ? 8 : 60);
	*first = pick(PAGES - *count + 1);
}

static void set_pages(unsigned first, unsigned count, unsigned owner)
{
	for (unsigned i = first; i < first + count; i++)
		page_owner[i] = owner;
}

static void map(unsigned number)
{
	unsigned first, count;

	random_span(&first, &count);
	f.stack = number;
	acquire(&f, "mmap", BASE + first * PAGE, count * PAGE - pick(4096));
	set_pages(first, count, number);
	last_owner = number;
}

static void unmap(void)
{
	bool last_is_there = pages_of(page_owner, last_owner) > 0;
	struct heap_act act = fixture_act(&f, "munmap");
	unsigned first, count;

	random_span(&first, &count);
	act.call = ++f.call;
	act.handle = BASE + first * PAGE;
	act.size = count * PAGE;
	heap_begin(f.heap, &act);
	act.failed = pick(3) == 0;
	if (!act.failed)
		set_pages(first, count, 0);
	if (last_is_there && !pages_of(page_owner, last_owner))
		gone_at_once++;
	heap_act(f.heap, &act);
}

static void remap(unsigned number)
{
	struct heap_act act = fixture_act(&f, "mremap");
	unsigned first, count, to, to_count;

	random_span(&first, &count);
	random_span(&to, &to_count);
	act.stack = number;
	act.call = ++f.call;
	act.old = BASE + first * PAGE;
	act.old_size = count * PAGE;
	act.handle = BASE + to * PAGE;
	act.size = to_count * PAGE;
	heap_begin(f.heap, &act);
	act.failed = pick(3) == 0;
	if (!act.failed) {
		set_pages(first, count, 0);
		set_pages(to, to_count, number);
		last_owner = number;
	}
	heap_act(f.heap, &act);
}

static void compare_pages(unsigned last)
{
	bool *seen = calloc(last + 1, sizeof(*seen));
	struct heap_walk walk = { 0 };
	struct heap_block block;
	unsigned pages = 0, owners = 0;

	while (heap_next_block(f.heap, &walk, &block)) {
		unsigned first = (block.handle - BASE) / PAGE;

		pages += block.size / PAGE;
		for (unsigned i = 0; i < block.size / PAGE; i++)
			ck_assert_uint_eq(page_owner[first + i],
					  block.site->stack);
	}
	for (unsigned i = 0; i < PAGES; i++) {
		if (!page_owner[i])
			continue;
		pages--;
		owners += !seen[page_owner[i]];
		seen[page_owner[i]] = true;
	}
	ck_assert_uint_eq(pages, 0);
	ck_assert_uint_eq(total_of(&f, "mmap")->blocks, owners);
	free(seen);
}

START_TEST(ranges)
{
	state = _i;
	memset(page_owner, 0, sizeof(page_owner));
	memset(peak_owner, 0, sizeof(peak_owner));
	peak_pages = last_owner = gone_at_once = 0;
	for (unsigned i = 1; i <= 5000; i++) {
		unsigned what = pick(5);

		f.now += 1000;
		if (what < 2)
			map(i);
		else if (what < 4)
			unmap();
		else
			remap(i);
		note_peak_pages();
		compare_pages(i);
		if (i % 100 == 0)
			compare_peak_pages();
	}
	compare_peak_pages();
	ck_assert_uint_gt(gone_at_once, 10);
	ck_assert_uint_gt(total_of(&f, "mmap")->replaced, 100);
}
END_TEST

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

START_TEST(histograms)
{
	struct log_histogram histogram = { 0 };
	static uint64_t numbers[1000];
	uint64_t classes[SIZE_CLASSES], sum = 0;

	state = _i;
	for (unsigned i = 0; i < 1000; i++) {
		numbers[i] =
			((uint64_t)pick(1u << 31) << 32 | pick(1u << 31)) >>
			pick(64);
		log_histogram_add(&histogram, numbers[i]);
	}
	qsort(numbers, 1000, sizeof(*numbers), by_number);
	for (unsigned q = 1; q <= 1000; q += 37) {
		uint64_t exact = numbers[q - 1];
		uint64_t found = log_histogram_quantile(&histogram, q);

		ck_assert(found >= exact);
		ck_assert(found - exact <= exact / 4);
	}
	ck_assert_uint_eq(log_histogram_quantile(&histogram, 1000),
			  numbers[999]);
	log_histogram_classes(&histogram, classes);
	for (unsigned i = 0; i < SIZE_CLASSES; i++)
		sum += classes[i];
	ck_assert_uint_eq(sum, 1000);
	log_histogram_fini(&histogram);
}
END_TEST

/* Each doubles what there was: a count takes 1, 2, 4, 8 bytes. */
START_TEST(histograms_of_very_many)
{
	struct log_histogram histogram = { 0 };

	log_histogram_add(&histogram, 5);
	for (unsigned i = 0; i < 3; i++)
		log_histogram_add(&histogram, 1000000);
	for (unsigned i = 0; i < 40; i++) {
		struct log_histogram copy = { 0 };

		log_histogram_merge(&copy, &histogram);
		log_histogram_merge(&histogram, &copy);
		log_histogram_fini(&copy);
		ck_assert_uint_eq(histogram.count, UINT64_C(8) << i);
		ck_assert_uint_eq(log_histogram_quantile(&histogram, 250), 5);
		ck_assert_uint_eq(log_histogram_quantile(&histogram, 251),
				  1000000);
	}
	ck_assert_uint_le(log_histogram_bytes(&histogram), 2048);
	log_histogram_fini(&histogram);
}
END_TEST

/* The same from a list of all changes. */
static float low_between(const uint64_t *times, const uint64_t *blocks,
			 unsigned count, uint64_t from, uint64_t to)
{
	uint64_t low = UINT64_MAX, before = 0;

	for (unsigned i = 0; i < count && times[i] < to; i++) {
		if (times[i] < from)
			before = blocks[i];
		else
			low = blocks[i] < low ? blocks[i] : low;
	}
	return low < before ? low : before;
}

START_TEST(histories)
{
	struct history history = { 0 };
	struct history_point points[HISTORY_POINTS];
	static uint64_t times[3000], blocks[3000];
	struct history_state now = { 0 };
	uint64_t time = 0, interval;
	unsigned count;

	state = _i;
	for (unsigned i = 0; i < 3000; i++) {
		struct history_state next = { pick(50) + i / 10, 0 };

		time += (uint64_t)pick(1000000) * (1 + pick(20));
		history_change(&history, time, next);
		now = next;
		times[i] = time;
		blocks[i] = next.blocks;
	}
	time += pick(2) * 1000000000ull;
	count = history_points(&history, time, points, &interval);
	ck_assert_uint_eq(count, time / interval + 1);
	ck_assert_uint_gt(count, HISTORY_POINTS / 2 - 1);
	for (unsigned i = 0; i < count; i++)
		ck_assert(points[i].low_blocks ==
			  low_between(times, blocks, 3000, i * interval,
				      (i + 1) * interval));
	ck_assert_uint_eq(history.last.blocks, now.blocks);
	ck_assert_uint_le(history_bytes(&history),
			  HISTORY_POINTS * sizeof(*points));
	history_fini(&history);
}
END_TEST

/* Young, leaving these, and in small parts. */
static void check_places(const struct live *live)
{
	size_t i, used = 0, passed = 0, held[2] = { 0 };

	for (i = 0; i < LIVE_PARTS; i++) {
		const struct live_part *part = &live->parts[i];

		used += part->used;
		for (uint32_t group = 0; group < part->room / LIVE_GROUP;
		     group++)
			passed += part->groups[group].passed;
	}
	for (i = 0; i < LIVE_YOUNG; i++)
		held[0] += live->parts[LIVE_PARTS].slots[i].site != 0;
	for (i = 0; i < LIVE_LEAVING; i++)
		held[1] += live->parts[LIVE_PARTS + 1].slots[i].site != 0;
	ck_assert_uint_eq(used + held[0] + held[1], live->count);
	ck_assert_uint_gt(used, 10 * LIVE_PARTS);
	ck_assert_uint_gt(passed, 0);
	ck_assert_uint_gt(held[0], LIVE_YOUNG / 4);
	ck_assert_uint_gt(held[1], LIVE_LEAVING / 4);
}

/* Parts are small and nearly full, so that blocks pass full groups, the last one, too. */
START_TEST(live_blocks)
{
	static uint64_t sizes[4000];
	struct live live = { .count = 0 };
	struct live_block gone;
	size_t count = 0;

	memset(sizes, 0, sizeof(sizes));
	state = _i;
	for (unsigned i = 0; i < 120000; i++) {
		const unsigned rising = i / 30000 % 2 == 0;
		const unsigned n = pick(ARRAY_SIZE(sizes));
		const struct live_block block = { .handle = address(n),
						  .size = 1 + pick(1000),
						  .site = 1 + n };
		const struct live_block *found = live_find(&live, block.handle);

		ck_assert_int_eq(found != NULL, sizes[n] != 0);
		if (found)
			ck_assert_uint_eq(found->size, sizes[n]);
		if (!found && pick(4) < 1 + 2 * rising) {
			live_add(&live, &block);
			sizes[n] = block.size;
			count++;
		} else if (found && pick(4) >= 1 + 2 * rising) {
			ck_assert(live_remove(&live, block.handle, &gone));
			ck_assert_uint_eq(gone.size, sizes[n]);
			ck_assert_uint_eq(gone.site, 1 + n);
			sizes[n] = 0;
			count--;
		}
		ck_assert_uint_eq(live.count, count);
		if (i % 30000 == 29999 && rising)
			check_places(&live);
	}
	for (unsigned n = 0; n < ARRAY_SIZE(sizes); n++)
		ck_assert_int_eq(live_remove(&live, address(n), &gone),
				 sizes[n] != 0);
	live_fini(&live);
}
END_TEST

static Suite *random_suite(void)
{
	Suite *suite = suite_create("heap_random");
	TCase *tcase = tcase_create("heap_random");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, handles, 0, 5);
	tcase_add_loop_test(tcase, ranges, 0, 5);
	tcase_add_loop_test(tcase, live_blocks, 0, 5);
	tcase_add_loop_test(tcase, histograms, 0, 5);
	tcase_add_test(tcase, histograms_of_very_many);
	tcase_add_loop_test(tcase, histories, 0, 10);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(random_suite());
}
