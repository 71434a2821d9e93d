/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "heap/call_acts.h"
#include "heap/watch.h"
#include "probe/event.h"

/*
 * Calls that are whole come to the same by the short way as by the long one, which
 * a heap that keeps a timeline goes.
 */

#define STACKS    5
#define HANDLES   300
#define FUNCTIONS 4

/* One of the two that are compared. */
struct side {
	struct watched process;
	struct call_acts acts;
};

static struct fixture f; /* its families */
static struct stacks *stacks;
static stack_id ids[STACKS];
static struct function functions[FUNCTIONS];
static struct side sides[2];
static uint64_t state;

static unsigned pick(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % n;
}

static void setup(void)
{
	static const char *const names[FUNCTIONS] = { "malloc", "new", "free",
						      "delete" };
	const struct code *codes[2];

	fixture_init(&f, NULL);
	stacks = stacks_new();
	codes[0] = stacks_lost_code(stacks, "/lib/a");
	codes[1] = stacks_lost_code(stacks, "/lib/b");
	for (unsigned i = 0; i < STACKS; i++) {
		const struct frame frame = { codes[i == 1], 100 + i, 0 };

		ids[i] = stacks_intern(stacks, &frame, i < STACKS - 1, 0);
	}
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		functions[i] = (struct function){
			.subject = families_find(f.families, names[i]),
			.whole = i < 2 ? WHOLE_AT_RETURN : WHOLE_AT_ENTRY,
		};
		ck_assert_ptr_nonnull(functions[i].subject);
	}
}

static void begin(size_t blocks, bool complete)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct heap_options options = {
			.families = f.families,
			.start = START,
			.timeline = i,
			.complete = complete,
			.limits = { blocks, 1000, 1000 },
		};

		memset(&sides[i], 0, sizeof(sides[i]));
		sides[i].process.heap = heap_new(&options);
		sides[i].acts.stacks = stacks;
	}
}

static void finish(void)
{
	for (unsigned i = 0; i < 2; i++) {
		call_acts_fini(&sides[i].acts);
		heap_free(sides[i].process.heap);
	}
}

static void teardown(void)
{
	stacks_free(stacks);
	fixture_fini(&f);
}

static void tell(const struct whole_call *call)
{
	for (unsigned i = 0; i < 2; i++)
		call_acts_whole(&sides[i].acts, &sides[i].process, call);
}

/* Mostly what programs do, and sometimes what they shouldn't. */
static struct whole_call random_call(void)
{
	const unsigned function = pick(20) ? 2 * pick(2) : pick(FUNCTIONS);
	const uint64_t handle = pick(50) ? (1 + pick(HANDLES)) * 16 : 0;
	struct whole_call call = {
		.function = &functions[function],
		.id = 1,
		.tid = 100 + !pick(10),
		.stack = ids[pick(STACKS)],
		.untimed = !pick(5),
	};

	f.now += pick(4) ? pick(3000) : pick(100000000);
	call.time = f.now;
	call.end = f.now + (pick(4) ? pick(500) : 0);
	if (function >= 2 && !pick(3))
		call.end = 0;
	call.arguments[0] = function < 2 ? pick(9) * pick(1000) : handle;
	call.arguments[1] = function == 3 ? pick(2000) : 0;
	if (function < 2 && !pick(100))
		call.arguments[0] = UINT64_MAX >> pick(20);
	call.result = function < 2 ? handle : pick(2);
	return call;
}

static void switch_sides(bool on)
{
	for (unsigned i = 0; i < 2; i++) {
		sides[i].acts.off = !on;
		heap_switch(sides[i].process.heap, f.now, on);
	}
}

/* ---- all that they have come to ---- */

static void put(struct strbuf *text, const char *name, uint64_t number)
{
	strbuf_printf(text, "%s %" PRIu64 "\n", name, number);
}

#define PUT(of, member) put(text, #member, (uint64_t)(of)->member)

static void put_history(struct strbuf *text, const struct history *history)
{
	struct history_point points[HISTORY_POINTS];
	uint64_t interval;
	const unsigned count =
		history_points(history, f.now - START, points, &interval);

	for (unsigned i = 0; i < count; i++)
		strbuf_printf(text, "%.0f %.0f\n", points[i].low_blocks,
			      points[i].low_bytes);
	PUT(&history->last, blocks);
	PUT(&history->last, bytes);
}

static void put_histogram(struct strbuf *text,
			  const struct log_histogram *histogram)
{
	PUT(histogram, count);
	PUT(histogram, max);
	for (unsigned i = 50; i < 1000; i += 50)
		put(text, "quantile", log_histogram_quantile(histogram, i));
}

static void put_site(struct strbuf *text, const struct heap *heap,
		     const struct site *site)
{
	const struct site_amount at_peak = heap_at_peak(heap, site);

	strbuf_printf(text, "%s at %u by %s\n", site->function->name,
		      site->stack, site->library ? site->library : "");
	PUT(site, thread);
	PUT(site, blocks);
	PUT(site, bytes);
	PUT(site, peak_blocks);
	PUT(site, peak_bytes);
	PUT(site, peak_time);
	PUT(&at_peak, blocks);
	PUT(&at_peak, bytes);
	PUT(site, alloc_blocks);
	PUT(site, alloc_bytes);
	PUT(site, first_time);
	PUT(site, last_time);
	PUT(site, total_ns);
	PUT(site, lifetime_ns);
	PUT(site, freed_blocks);
	PUT(site, freed_bytes);
	PUT(site, last_free);
	PUT(&site->temporary, blocks);
	PUT(&site->temporary, bytes);
	PUT(site, samples);
	PUT(site, failed);
	put_history(text, &site->history);
	put_histogram(text, &site->times);
	put_histogram(text, &site->sizes);
	put_histogram(text, &site->lifetimes);
}

static void put_uses(struct strbuf *text, const struct heap *heap)
{
	for (size_t i = 0; i < heap_use_count(heap); i++) {
		const struct heap_use *use = heap_use_at(heap, i);

		strbuf_printf(text, "%s by %s\n", use->function->name,
			      use->library ? use->library : "");
		PUT(use, calls);
		PUT(use, failed);
		PUT(use, bytes);
		PUT(use, timed);
		PUT(use, total_ns);
	}
	for (size_t i = 0; i < heap_holder_count(heap); i++) {
		const struct heap_holder *holder = heap_holder_at(heap, i);

		PUT(holder, blocks);
		PUT(holder, bytes);
		PUT(holder, alloc_blocks);
		PUT(holder, alloc_bytes);
		PUT(holder, peak_blocks);
		PUT(holder, peak_bytes);
		PUT(holder, peak_time);
	}
}

static void put_incidents(struct strbuf *text, const struct heap *heap)
{
	for (int kind = 0; kind < INCIDENT_KINDS; kind++) {
		for (size_t i = 0; i < heap_incident_count(heap, kind); i++) {
			const struct incident *incident =
				heap_incident_at(heap, kind, i);

			PUT(incident, kind);
			PUT(incident, first);
			PUT(incident, second);
			PUT(incident, count);
			PUT(incident, bytes);
			PUT(incident, first_time);
			PUT(incident, last_time);
			PUT(incident, handle);
			PUT(incident, size);
		}
	}
}

static void put_blocks(struct strbuf *text, const struct heap *heap)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(heap, &walk, &block)) {
		put(text, "site", block.site->number);
		PUT(&block, handle);
		PUT(&block, size);
		PUT(&block, birth);
		PUT(&block, tid);
	}
}

static void put_heap(struct strbuf *text, const struct heap *heap)
{
	const struct family *family =
		families_find(f.families, "malloc")->family;
	const struct heap_total *total = heap_total(heap, family);
	const uint64_t *numbers = (const uint64_t *)total;

	_Static_assert(sizeof(*total) % sizeof(*numbers) == 0, "all numbers");
	for (size_t i = 0; i < sizeof(*total) / sizeof(*numbers); i++)
		put(text, "total", numbers[i]);
	put(text, "live", heap_live_count(heap));
	put_history(text, heap_total_history(heap, family));
	put_history(text, heap_activity(heap, family));
	for (size_t i = 1; i <= heap_site_count(heap); i++)
		put_site(text, heap, heap_site(heap, i));
	put_uses(text, heap);
	put_incidents(text, heap);
	put_blocks(text, heap);
}

static void compare(void)
{
	struct strbuf texts[2] = { { 0 } };

	for (unsigned i = 0; i < 2; i++)
		put_heap(&texts[i], sides[i].process.heap);
	ck_assert_str_eq(strbuf_text(&texts[0]), strbuf_text(&texts[1]));
	for (unsigned i = 0; i < 2; i++)
		strbuf_fini(&texts[i]);
}

START_TEST(short_and_long)
{
	state = _i + 1;
	f.now = START;
	begin(_i % 2 ? 100 : 1000, _i % 3 == 0);
	for (unsigned i = 0; i < 20000; i++) {
		const struct whole_call call = random_call();

		tell(&call);
		if (_i >= 5 && !pick(2000))
			switch_sides(pick(2));
		if (i % 1000 == 0)
			compare();
	}
	compare();
	finish();
}
END_TEST

START_TEST(takes_what_it_knows)
{
	struct whole_call call = {
		.function = &functions[0],
		.tid = 100,
		.stack = ids[0],
		.time = START + 10,
		.end = START + 20,
		.arguments = { 48 },
		.result = 4096,
	};

	begin(10, false);
	ck_assert(!heap_take_plain(sides[0].process.heap, &call));
	tell(&call);
	call.result += 4096;
	ck_assert(heap_take_plain(sides[0].process.heap, &call));
	call.result += 4096;
	ck_assert(!heap_take_plain(sides[1].process.heap, &call));
	ck_assert_uint_eq(heap_live_count(sides[0].process.heap), 2);
	ck_assert_uint_eq(heap_live_count(sides[1].process.heap), 1);
	finish();
}
END_TEST

static Suite *plain_suite(void)
{
	Suite *suite = suite_create("heap_plain");
	TCase *tcase = tcase_create("heap_plain");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, short_and_long, 0, 10);
	tcase_add_test(tcase, takes_what_it_knows);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(plain_suite());
}
