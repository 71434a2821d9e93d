/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap_fixture.h"

#include <stdio.h>

#include "heap/look.h"

static struct fixture f;

static void setup(void)
{
	fixture_init(&f, NULL);
}

static void teardown(void)
{
	fixture_fini(&f);
}

static void check_live(const char *name, uint64_t blocks, uint64_t bytes)
{
	const struct heap_total *total = total_of(&f, name);

	ck_assert_uint_eq(total->blocks, blocks);
	ck_assert_uint_eq(total->bytes, bytes);
}

START_TEST(acquired_and_released)
{
	const struct site *site;

	acquire(&f, "malloc", 0x10, 100);
	f.now += 3 * SECOND;
	f.stack = 2;
	acquire(&f, "malloc", 0x20, 50);
	f.now += SECOND;
	release(&f, "free", 0x10, 0);
	check_live("free", 1, 50);
	site = site_of(&f, 1, NULL);
	ck_assert_uint_eq(site->blocks, 0);
	ck_assert_uint_eq(site->freed_bytes, 100);
	ck_assert_uint_eq(site->lifetimes.count, 1);
	ck_assert(site->lifetimes.max >= 4 * SECOND);
	ck_assert(site->lifetimes.max < 4 * SECOND + 2048);
	ck_assert_uint_eq(site->peak_bytes, 100);
	ck_assert_uint_eq(total_of(&f, "malloc")->peak_bytes, 150);
	ck_assert_uint_eq(total_of(&f, "malloc")->peak_time,
			  START + 3 * SECOND);
	ck_assert_uint_eq(total_of(&f, "malloc")->alloc_bytes, 150);
}
END_TEST

static void check_at_peak(stack_id stack, const char *name, uint64_t blocks,
			  uint64_t bytes)
{
	struct site_amount held =
		heap_at_peak(f.heap, site_of(&f, stack, name));

	ck_assert_uint_eq(held.blocks, blocks);
	ck_assert_uint_eq(held.bytes, bytes);
}

START_TEST(held_at_the_peak)
{
	acquire(&f, "malloc", 0x10, 100);
	f.stack = 2;
	acquire(&f, "malloc", 0x20, 50);
	check_at_peak(1, NULL, 1, 100);
	check_at_peak(2, NULL, 1, 50);
	/* Nothing of that is so large again, */
	release(&f, "free", 0x10, 0);
	f.stack = 3;
	acquire(&f, "malloc", 0x30, 100);
	release(&f, "free", 0x20, 0);
	check_at_peak(1, NULL, 1, 100);
	check_at_peak(2, NULL, 1, 50);
	check_at_peak(3, NULL, 0, 0);
	/* until then, with what a stack holds that has not changed since. */
	f.stack = 2;
	resize(&f, "realloc", 0x30, 0x30, 151);
	release(&f, "free", 0x30, 0);
	check_at_peak(1, NULL, 0, 0);
	check_at_peak(2, "malloc", 0, 0);
	check_at_peak(2, "realloc", 1, 151);
	check_at_peak(3, NULL, 0, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->peak_bytes, 151);
	ck_assert_uint_eq(total_of(&f, "malloc")->peak_blocks, 2);
	ck_assert_uint_eq(total_of(&f, "malloc")->at_peak_blocks, 1);
}
END_TEST

/* Each family has its own; that of what has no size is in blocks. */
START_TEST(peaks_of_families)
{
	acquire(&f, "mmap", 0x10000, 5000);
	f.stack = 2;
	acquire(&f, "open", 3, 0);
	f.stack = 3;
	acquire(&f, "open", 4, 0);
	release(&f, "munmap", 0x10000, 4096);
	acquire(&f, "malloc", 0x10, 1);
	release(&f, "close", 3, 0);
	check_at_peak(1, "mmap", 1, 8192);
	check_at_peak(2, "open", 1, 0);
	check_at_peak(3, "open", 1, 0);
	check_at_peak(3, "malloc", 1, 1);
	ck_assert_uint_eq(total_of(&f, "close")->at_peak_blocks, 2);
}
END_TEST

static void check_temporary(stack_id stack, const char *name, uint64_t blocks,
			    uint64_t bytes)
{
	const struct site *site = site_of(&f, stack, name);

	ck_assert_uint_eq(site->temporary.blocks, blocks);
	ck_assert_uint_eq(site->temporary.bytes, bytes);
}

START_TEST(given_back_before_the_next)
{
	acquire(&f, "malloc", 0x10, 100);
	acquire(&f, "malloc", 0x20, 10);
	/* Others may come in between, if nothing is acquired. */
	release(&f, "free", 0x10, 0);
	acquire(&f, "malloc", 0, 1); /* fails */
	acquire(&f, "mmap", 0x10000, 5000);
	release(&f, "free", 0x20, 0);
	check_temporary(1, "malloc", 1, 10);
	/* What the next one takes the place of isn't temporary by that. */
	acquire(&f, "malloc", 0x10, 100);
	f.tid = 101;
	acquire(&f, "malloc", 0x20, 100);
	release(&f, "free", 0x10, 0);
	acquire(&f, "malloc", 0x10, 7);
	release(&f, "free", 0x20, 0);
	check_temporary(1, "malloc", 1, 10);
	/* realloc() gives nothing back, and acquires. */
	resize(&f, "realloc", 0x10, 0x10, 9);
	check_temporary(1, "malloc", 1, 10);
	release(&f, "free", 0x10, 0);
	check_temporary(1, "malloc", 1, 10);
	check_temporary(1, "realloc", 1, 9);
	/* In parts. */
	release(&f, "munmap", 0x11000, 4096);
	release(&f, "munmap", 0x10000, 4096);
	check_temporary(1, "mmap", 1, 8192);
	ck_assert_uint_eq(total_of(&f, "malloc")->temporary_blocks, 2);
}
END_TEST

/* A handle may come again before the release of the old one has returned. */
START_TEST(temporary_when_entered)
{
	struct heap_act act;

	acquire(&f, "open", 3, 0);
	act = fixture_act(&f, "close");
	act.call = 5;
	act.handle = 3;
	heap_begin(f.heap, &act);
	f.stack = 2;
	acquire(&f, "open", 3, 0);
	heap_act(f.heap, &act);
	check_temporary(1, "open", 1, 0);
	/* One that fails has given nothing back: 3 is the latest still, */
	act.call = 6;
	act.failed = true;
	heap_begin(f.heap, &act);
	heap_act(f.heap, &act);
	check_temporary(2, "open", 0, 0);
	release(&f, "close", 3, 0);
	check_temporary(2, "open", 1, 0);
	/* but not when another one has come meanwhile. */
	acquire(&f, "open", 3, 0);
	act.call = 7;
	heap_begin(f.heap, &act);
	f.stack = 3;
	acquire(&f, "open", 4, 0);
	release(&f, "close", 4, 0);
	heap_act(f.heap, &act);
	release(&f, "close", 3, 0);
	check_temporary(2, "open", 1, 0);
	check_temporary(3, "open", 1, 0);
}
END_TEST

START_TEST(failures_and_null)
{
	acquire(&f, "malloc", 0, 1ull << 60);
	release(&f, "free", 0, 0);
	resize(&f, "realloc", 0, 0x10, 8);
	check_live("malloc", 1, 8);
	ck_assert_uint_eq(total_of(&f, "malloc")->failed, 1);
	ck_assert_uint_eq(total_of(&f, "malloc")->null_releases, 1);
	ck_assert_uint_eq(total_of(&f, "malloc")->unknown_frees, 0);
	ck_assert_uint_eq(site_of(&f, 1, "malloc")->failed, 1);
}
END_TEST

START_TEST(resize_rules)
{
	acquire(&f, "malloc", 0x10, 100);
	resize(&f, "realloc", 0x10, 0, 1000); /* fails */
	check_live("malloc", 1, 100);
	ck_assert_uint_eq(total_of(&f, "malloc")->failed, 1);
	resize(&f, "realloc", 0x10, 0x10, 40); /* in place */
	check_live("malloc", 1, 40);
	resize(&f, "realloc", 0x10, 0x90, 400); /* moved */
	check_live("malloc", 1, 400);
	ck_assert_uint_eq(site_of(&f, 1, "malloc")->resized, 1);
	ck_assert_uint_eq(site_of(&f, 1, "malloc")->lifetimes.count, 0);
	ck_assert_uint_eq(site_of(&f, 1, "realloc")->blocks, 1);
	release(&f, "free", 0x90, 0);
	check_live("malloc", 0, 0);
	acquire(&f, "malloc", 0x10, 100);
	resize(&f, "realloc", 0x10, 0, 0); /* gives it back */
	check_live("malloc", 0, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->failed, 1);
	resize(&f, "realloc", 0x500, 0x600, 10); /* from before our time */
	check_live("malloc", 1, 10);
	ck_assert_uint_eq(total_of(&f, "malloc")->unknown_resizes, 1);
}
END_TEST

/* While realloc() runs, its old block may come to another thread. */
START_TEST(old_block_reused_before_resize_returns)
{
	struct heap_act act;

	acquire(&f, "malloc", 0x10, 100);
	act = fixture_act(&f, "realloc");
	act.call = 5;
	act.old = 0x10;
	act.size = 200;
	heap_begin(f.heap, &act);
	f.tid = 101;
	f.stack = 7;
	acquire(&f, "malloc", 0x10, 30);
	act.handle = 0x40;
	heap_act(f.heap, &act);
	check_live("malloc", 2, 230);
	ck_assert_uint_eq(total_of(&f, "malloc")->reused, 0);
	ck_assert_uint_eq(site_of(&f, 7, NULL)->blocks, 1);
}
END_TEST

/* … and be given back a second time, before that resize fails: it is held once. */
START_TEST(released_before_resize_fails)
{
	struct heap_act act;

	acquire(&f, "malloc", 0x10, 100);
	act = fixture_act(&f, "realloc");
	act.call = 5;
	act.old = 0x10;
	act.size = 200;
	heap_begin(f.heap, &act);
	f.tid = 101;
	release(&f, "free", 0x10, 0);
	act.failed = true;
	heap_act(f.heap, &act);
	check_live("malloc", 1, 100);
	acquire(&f, "malloc", 0x10, 30);
	check_live("malloc", 1, 30);
	ck_assert_uint_eq(total_of(&f, "malloc")->reused, 1);
	release(&f, "free", 0x10, 0);
	check_live("malloc", 0, 0);
}
END_TEST

static struct heap_act begin_resize_of_unknown(void)
{
	struct heap_act act = fixture_act(&f, "realloc");

	act.call = 5;
	act.old = 0x10;
	act.size = 200;
	heap_begin(f.heap, &act);
	f.now += 1000;
	return act;
}

/* … of one that nobody knows, and be given back by it, which is no mistake. */
START_TEST(unknown_block_reused_before_resize_returns)
{
	const struct heap_total *total = total_of(&f, "malloc");
	struct heap_act act = begin_resize_of_unknown();

	acquire(&f, "malloc", 0x10, 30);
	release(&f, "free", 0x10, 0);
	act.handle = 0x40;
	act.end = f.now + 1000;
	heap_act(f.heap, &act);
	ck_assert_uint_eq(total->double_frees, 0);
	ck_assert_uint_eq(total->unknown_resizes, 1);
	check_live("malloc", 1, 200);
	f.now += 2000;
	release(&f, "free", 0x10, 0);
	ck_assert_uint_eq(total->double_frees, 1);
}
END_TEST

/* Given back by somebody who hadn't got it meanwhile, it is one. */
START_TEST(unknown_block_given_back_before_resize_returns)
{
	struct heap_act act = begin_resize_of_unknown();

	release(&f, "free", 0x10, 0);
	act.handle = 0x40;
	act.end = f.now + 1000;
	heap_act(f.heap, &act);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 1);
}
END_TEST

START_TEST(resize_that_never_returns)
{
	struct heap_act act;

	acquire(&f, "malloc", 0x10, 100);
	act = fixture_act(&f, "realloc");
	act.call = 5;
	act.old = 0x10;
	act.size = 200;
	heap_begin(f.heap, &act);
	check_live("malloc", 1, 100);
	ck_assert(heap_abandon(f.heap, &act));
	check_live("malloc", 1, 100);
	ck_assert_uint_eq(total_of(&f, "malloc")->in_flight, 1);
	ck_assert(!heap_abandon(f.heap, &act));
	release(&f, "free", 0x10, 0);
	check_live("malloc", 0, 0);
	act.call = 6; /* still pending when the heap is freed */
	act.function = families_find(f.families, "munmap");
	acquire(&f, "mmap", 0x10000, 8192);
	act.handle = 0x10000;
	act.size = 4096;
	heap_begin(f.heap, &act);
}
END_TEST

START_TEST(release_told_at_entry_and_return)
{
	struct heap_act act;

	acquire(&f, "malloc", 0x10, 100);
	act = fixture_act(&f, "free");
	act.call = 9;
	act.handle = 0x10;
	act.end = 0;
	heap_begin(f.heap, &act);
	check_live("malloc", 0, 0);
	act.end = act.begin + 500;
	heap_act(f.heap, &act);
	check_live("malloc", 0, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 0);
	for (size_t i = 0; i < heap_use_count(f.heap); i++) {
		const struct heap_use *use = heap_use_at(f.heap, i);

		if (use->function != act.function)
			continue;
		ck_assert_uint_eq(use->calls, 1);
		ck_assert_uint_eq(use->bytes, 100);
		ck_assert_uint_eq(use->timed, 1);
		ck_assert_uint_eq(use->total_ns, 500);
		return;
	}
	ck_abort_msg("no use of free()");
}
END_TEST

START_TEST(release_that_fails)
{
	struct heap_act act;

	acquire(&f, "open", 0, 0);
	check_live("open", 1, 0);
	act = fixture_act(&f, "close");
	act.call = 1;
	act.handle = 0;
	heap_begin(f.heap, &act);
	act.failed = true;
	heap_act(f.heap, &act);
	check_live("open", 1, 0);
	act.call = 2;
	act.failed = false;
	heap_begin(f.heap, &act);
	acquire(&f, "open", 0, 0); /* in another thread, before it returns */
	heap_act(f.heap, &act);
	check_live("open", 1, 0);
	ck_assert_uint_eq(total_of(&f, "open")->reused, 0);
	ck_assert_uint_eq(total_of(&f, "open")->null_releases, 0);
}
END_TEST

/* pipe(): its ends are two descriptors, of one call. */
START_TEST(handles_of_one_call)
{
	const struct heap_use *use;
	struct heap_act act = fixture_act(&f, "open");

	act.end = act.begin + 500;
	act.handle = 3;
	heap_act(f.heap, &act);
	act.handle = 4;
	act.is_further = true;
	heap_act(f.heap, &act);
	check_live("open", 2, 0);
	ck_assert_uint_eq(heap_use_count(f.heap), 1);
	use = heap_use_at(f.heap, 0);
	ck_assert_uint_eq(use->calls, 1);
	ck_assert_uint_eq(use->timed, 1);
	ck_assert_uint_eq(use->total_ns, 500);
}
END_TEST

/* Each family has its own pending release, though it is one call. */
START_TEST(release_in_two_families)
{
	const struct family_function *open = families_find(f.families, "open");
	struct heap_act acts[2];

	for (int i = 0; i < 2; i++) {
		acts[i] = fixture_act(&f, "open");
		acts[i].function = i ? open->next : open;
		acts[i].handle = 5;
		heap_act(f.heap, &acts[i]);
		acts[i] = fixture_act(&f, "close");
		if (i)
			acts[i].function = acts[i].function->next;
		acts[i].handle = 5;
		acts[i].call = 77;
	}
	for (int i = 0; i < 2; i++)
		heap_begin(f.heap, &acts[i]);
	acquire(&f, "open", 5, 0); /* by another thread, in one of them */
	for (int i = 0; i < 2; i++)
		heap_act(f.heap, &acts[i]);
	ck_assert_uint_eq(heap_total(f.heap, open->family)->blocks, 1);
	ck_assert_uint_eq(heap_total(f.heap, open->next->family)->blocks, 0);
	ck_assert_uint_eq(heap_total(f.heap, open->family)->reused, 0);
}
END_TEST

START_TEST(double_and_unknown_frees)
{
	const struct incident *incident;

	release(&f, "free", 0x99, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->unknown_frees, 1);
	release(&f, "free", 0x99, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->unknown_frees, 1);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 1);
	acquire(&f, "malloc", 0x10, 1);
	f.stack = 2;
	release(&f, "free", 0x10, 0);
	f.stack = 3;
	release(&f, "free", 0x10, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 2);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_DOUBLE_FREE), 2);
	incident = heap_incident_at(f.heap, INCIDENT_DOUBLE_FREE, 1);
	ck_assert_uint_eq(incident->first, 2);
	ck_assert_uint_eq(incident->second, 3);
	ck_assert_uint_eq(incident->handle, 0x10);
	acquire(&f, "malloc", 0x10, 1);
	release(&f, "free", 0x10, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 2);
	check_live("malloc", 0, 0);
}
END_TEST

START_TEST(never_acquired)
{
	struct heap_options options = { .complete = true };
	struct fixture g;

	fixture_init(&g, &options);
	release(&g, "free", 0x99, 0);
	ck_assert_uint_eq(total_of(&g, "malloc")->unknown_frees, 0);
	ck_assert_uint_eq(total_of(&g, "malloc")->invalid_frees, 1);
	ck_assert_uint_eq(heap_incident_count(g.heap, INCIDENT_INVALID_FREE),
			  1);
	fixture_fini(&g);
}
END_TEST

START_TEST(forms_and_sizes_that_differ)
{
	const struct incident *incident;

	acquire(&f, "malloc", 0x10, 10);
	f.stack = 2;
	release(&f, "delete", 0x10, 10);
	acquire(&f, "new", 0x20, 10);
	release(&f, "delete", 0x20, 10);
	acquire(&f, "new", 0x30, 10);
	release(&f, "delete", 0x30, 12);
	acquire(&f, "new", 0x40, 10);
	resize(&f, "realloc", 0x40, 0x50, 20);
	ck_assert_uint_eq(total_of(&f, "malloc")->mismatches, 2);
	ck_assert_uint_eq(total_of(&f, "malloc")->size_mismatches, 1);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_MISMATCH), 2);
	incident = heap_incident_at(f.heap, INCIDENT_MISMATCH, 0);
	ck_assert_str_eq(incident->first_function->name, "malloc");
	ck_assert_str_eq(incident->second_function->name, "delete");
	ck_assert_uint_eq(incident->first, 1);
	ck_assert_uint_eq(incident->second, 2);
}
END_TEST

START_TEST(released_by_another_library)
{
	char same[] = "liba", other[] = "libb";
	const struct incident *incident;

	for (int i = 0; i < 3; i++) {
		f.library = "liba";
		f.stack = 1;
		acquire(&f, "malloc", 0x10, 10);
		f.library = other;
		f.stack = 2;
		release(&f, "free", 0x10, 0);
	}
	f.library = "liba";
	acquire(&f, "malloc", 0x20, 10);
	f.library = same;
	release(&f, "free", 0x20, 0);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_CROSS), 1);
	incident = heap_incident_at(f.heap, INCIDENT_CROSS, 0);
	ck_assert_uint_eq(incident->count, 3);
	ck_assert_uint_eq(incident->bytes, 30);
	ck_assert_str_eq(incident->first_library, "liba");
	ck_assert_str_eq(incident->second_library, "libb");
}
END_TEST

/* The library's number, or none for those of another one. */
static unsigned by_stack(void *context, stack_id stack, const char *library)
{
	(void)context;
	(void)library;
	return stack / 10;
}

/* Components decide where both are of one, libraries elsewhere. */
START_TEST(crossed_components)
{
	const struct {
		stack_id acquired, released;
		const char *acquirer, *releaser;
		unsigned crossed;
	} cases[] = {
		{ 10, 11, "liba", "libb", 0 }, /* two libraries of one */
		{ 10, 20, "liba", "liba", 1 }, /* two within a library */
		{ 10, 1, "liba", "liba", 0 },  { 1, 2, "liba", "libb", 1 },
		{ 10, 2, "liba", "libb", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct heap_options options = { .component = by_stack };
		struct fixture g;

		fixture_init(&g, &options);
		g.library = cases[i].acquirer;
		g.stack = cases[i].acquired;
		acquire(&g, "malloc", 0x10, 10);
		g.library = cases[i].releaser;
		g.stack = cases[i].released;
		release(&g, "free", 0x10, 0);
		ck_assert_msg(heap_incident_count(g.heap, INCIDENT_CROSS) ==
				      cases[i].crossed,
			      "case %zu", i);
		fixture_fini(&g);
	}
}
END_TEST

/* What a program is started with it may close. */
START_TEST(inherited_descriptors)
{
	const int inherited[] = { 0, 1, 2, 7 };
	struct heap_options options = {
		.complete = true,
		.inherited = inherited,
		.inherited_count = ARRAY_SIZE(inherited),
	};
	struct fixture g;

	fixture_init(&g, &options);
	for (int i = 0; i < 9; i++)
		release(&g, "close", i, 0);
	/* They were closed, so they were there: nobody saw where from. */
	ck_assert_uint_eq(total_of(&g, "close")->unseen_frees, 5);
	ck_assert_uint_eq(total_of(&g, "close")->invalid_frees, 0);
	/* An address is no descriptor. */
	release(&g, "free", 7, 0);
	ck_assert_uint_eq(total_of(&g, "free")->invalid_frees, 1);
	fixture_fini(&g);
}
END_TEST

START_TEST(reused_and_replaced)
{
	acquire(&f, "malloc", 0x10, 10);
	acquire(&f, "malloc", 0x10, 20);
	check_live("malloc", 1, 20);
	ck_assert_uint_eq(total_of(&f, "malloc")->reused, 1);
	acquire(&f, "open", 3, 0);
	acquire(&f, "dup2", 3, 0);
	acquire(&f, "dup2", 4, 0);
	check_live("open", 2, 0);
	ck_assert_uint_eq(total_of(&f, "open")->replaced, 1);
	ck_assert_uint_eq(total_of(&f, "open")->reused, 0);
}
END_TEST

static void check_type(const struct site_look *look, size_t index,
		       const char *name, uint64_t blocks, uint64_t bytes)
{
	ck_assert_uint_lt(index, look->type_count);
	ck_assert_str_eq(look->types[index].name, name);
	ck_assert_uint_eq(look->types[index].blocks, blocks);
	ck_assert_uint_eq(look->types[index].bytes, bytes);
}

/* What is known better stays, and what isn't held is nobody's. */
START_TEST(types_of_blocks)
{
	struct heap_look *look;
	const struct site_look *found;

	for (uint64_t i = 1; i <= 20; i++)
		acquire(&f, "malloc", i * 0x10, i);
	look = heap_look_new(f.heap, true);
	ck_assert(heap_look_has(look, 0x20));
	ck_assert(!heap_look_has(look, 0x28));
	for (uint64_t i = 1; i <= 5; i++)
		heap_look_tell(look, i * 0x10, LOOK_HELD, "list");
	heap_look_tell(look, 0x10, LOOK_OWN, "str");
	heap_look_tell(look, 0x10, LOOK_HELD, "dict");
	heap_look_tell(look, 0x10, LOOK_OWN, "dict");
	heap_look_tell(look, 0x1000, LOOK_OWN, "dict");
	heap_look_tell(look, 0, LOOK_OWN, "dict");
	heap_set_look(f.heap, look, f.now);
	found = heap_site_look(f.heap, site_of(&f, 1, NULL));
	ck_assert_uint_eq(found->type_count, 2);
	check_type(found, 0, "list", 4, 2 + 3 + 4 + 5);
	check_type(found, 1, "str", 1, 1);
	ck_assert_str_eq(heap_look_type(heap_looked(f.heap), 0x10), "str");
	ck_assert_ptr_null(heap_look_type(heap_looked(f.heap), 0x60));
	check_live("malloc", 20, 210);
}
END_TEST

/* The next report may have no look of its own. */
START_TEST(look_is_forgotten)
{
	struct heap_look *look;

	acquire(&f, "malloc", 0x10, 7);
	look = heap_look_new(f.heap, true);
	heap_look_tell(look, 0x10, LOOK_OWN, "str");
	heap_set_look(f.heap, look, f.now);
	ck_assert_ptr_nonnull(heap_site_look(f.heap, site_of(&f, 1, NULL)));
	ck_assert_ptr_null(heap_look_why_untyped(heap_looked(f.heap)));
	look = heap_look_new(f.heap, false);
	heap_look_refuse_types(look, "too much");
	heap_set_look(f.heap, look, f.now);
	ck_assert_str_eq(heap_look_why_untyped(heap_looked(f.heap)),
			 "too much");
	heap_forget_look(f.heap);
	ck_assert_ptr_null(heap_looked(f.heap));
	ck_assert_ptr_null(heap_look_why_untyped(NULL));
	ck_assert_ptr_null(heap_site_look(f.heap, site_of(&f, 1, NULL)));
	heap_forget_look(f.heap);
}
END_TEST

/* There are more pieces than blocks. */
START_TEST(types_of_pieces)
{
	struct heap_look *look;

	acquire(&f, "mmap", 4096, 4096 * 999);
	for (uint64_t i = 2; i < 1000; i += 2)
		release(&f, "munmap", i * 4096, 4096);
	look = heap_look_new(f.heap, true);
	for (uint64_t i = 1; i < 1000; i += 2)
		heap_look_tell(look, i * 4096, LOOK_OWN, "string");
	ck_assert(!heap_look_has(look, UINT64_C(2) * 4096));
	heap_set_look(f.heap, look, f.now);
	check_type(heap_site_look(f.heap, site_of(&f, 1, NULL)), 0, "string",
		   500, UINT64_C(500) * 4096);
}
END_TEST

/* Places without an object are given back, but not a block of malloc there. */
START_TEST(collected_objects)
{
	struct heap_look *look;

	acquire(&f, "new_object", 0x10, 40);
	acquire(&f, "new_object", 0x10, 50);
	ck_assert_uint_eq(total_of(&f, "new_object")->reused, 0);
	ck_assert_uint_eq(total_of(&f, "new_object")->replaced, 1);
	acquire(&f, "new_object", 0x20, 40);
	acquire(&f, "malloc", 0x30, 7);
	look = heap_look_new(f.heap, true);
	heap_look_tell(look, 0x10, LOOK_OWN, "String");
	heap_look_tell(look, 0x20, LOOK_EMPTY, NULL);
	heap_look_tell(look, 0x30, LOOK_EMPTY, NULL);
	heap_set_look(f.heap, look, f.now);
	check_live("new_object", 1, 50);
	check_live("malloc", 1, 7);
	ck_assert_uint_eq(heap_live_count(f.heap), 2);
	f.stack = 2;
	acquire(&f, "malloc", 0x40, 7);
	ck_assert_ptr_null(heap_site_look(f.heap, site_of(&f, 2, NULL)));
}
END_TEST

START_TEST(shared_handles)
{
	acquire(&f, "get", 0x10, 0);
	acquire(&f, "get", 0x10, 0);
	acquire(&f, "get", 0x20, 0);
	check_live("get", 2, 0);
	release(&f, "put", 0x10, 0);
	check_live("get", 2, 0);
	release(&f, "put", 0x10, 0);
	check_live("get", 1, 0);
	release(&f, "put", 0x10, 0);
	ck_assert_uint_eq(total_of(&f, "get")->double_frees, 1);
	check_live("get", 1, 0);
}
END_TEST

/* They had been acquired more than once before. */
START_TEST(shared_handles_from_before)
{
	for (int i = 0; i < 3; i++)
		release(&f, "put", 0x30, 0);
	ck_assert_uint_eq(total_of(&f, "get")->unknown_frees, 3);
	acquire(&f, "up_ref", 0x40, 0);
	check_live("get", 1, 0);
	for (int i = 0; i < 3; i++)
		release(&f, "put", 0x40, 0);
	check_live("get", 0, 0);
	ck_assert_uint_eq(total_of(&f, "get")->unknown_frees, 5);
	ck_assert_uint_eq(total_of(&f, "get")->double_frees, 0);
}
END_TEST

START_TEST(parts_of_mappings)
{
	const struct site *site;

	acquire(&f, "mmap", 0x10000, 0x3001);
	check_live("mmap", 1, 0x4000);
	f.stack = 2;
	acquire(&f, "mmap", 0x14000, 0x1000);
	f.now += SECOND;
	release(&f, "munmap", 0x11000, 0x1000); /* in the middle */
	check_live("mmap", 2, 0x4000);
	site = site_of(&f, 1, NULL);
	ck_assert_uint_eq(site->blocks, 1);
	ck_assert_uint_eq(site->bytes, 0x3000);
	ck_assert_uint_eq(site->freed_blocks, 0);
	release(&f, "munmap", 0x12000, 0x3000); /* the rest, and the next */
	check_live("mmap", 1, 0x1000);
	release(&f, "munmap", 0, 0x20000);
	check_live("mmap", 0, 0);
	ck_assert_uint_eq(site->freed_blocks, 1);
	ck_assert_uint_eq(site->freed_bytes, 0x4000);
	ck_assert_uint_eq(site->lifetimes.count, 1);
	release(&f, "munmap", 0x50000, 0x1000);
	ck_assert_uint_eq(total_of(&f, "mmap")->unknown_frees, 1);
}
END_TEST

START_TEST(mappings_moved_and_replaced)
{
	struct heap_act act = fixture_act(&f, "mremap");

	acquire(&f, "mmap", 0x10000, 0x4000);
	act.old = 0x12000;
	act.old_size = 0x2000;
	act.handle = 0x80000;
	act.size = 0x8000;
	heap_act(f.heap, &act);
	check_live("mmap", 2, 0xa000);
	ck_assert_uint_eq(site_of(&f, 1, "mmap")->bytes, 0x2000);
	act.call = 3;
	act.old = 0x80000;
	act.old_size = 0x8000;
	act.size = 0x10000;
	heap_begin(f.heap, &act);
	act.failed = true;
	heap_act(f.heap, &act);
	check_live("mmap", 2, 0xa000);
	acquire(&f, "mmap", 0x80000, 0x1000); /* MAP_FIXED */
	check_live("mmap", 3, 0xa000);
	ck_assert_uint_eq(total_of(&f, "mmap")->replaced, 1);
	acquire(&f, "mmap", UINT64_MAX, 0x1000);
	acquire(&f, "mmap", 0xfffffffffffff000, UINT64_MAX);
	ck_assert_uint_le(total_of(&f, "mmap")->blocks, 5);
}
END_TEST

static void move(const char *name, uint64_t end, uint64_t old, int64_t by)
{
	struct heap_act act = fixture_act(&f, name);

	act.handle = end;
	act.old = old;
	act.size = by;
	heap_act(f.heap, &act);
}

/* glibc's brk() says that it has done what the kernel has not. */
START_TEST(program_break_at_nothing)
{
	move("brk", 0x1000, 0, 0);
	move("brk", 0x1800, 0, 0);
	move("brk", 0, 0, 0);
	check_live("brk", 1, 0x800);
	move("brk", 0x2000, 0, 0);
	check_live("brk", 2, 0x1000);
}
END_TEST

static void acquire_unkept(const char *name, uint64_t handle, uint64_t size)
{
	struct heap_act act = fixture_act(&f, name);

	act.handle = handle;
	act.size = size;
	act.unkept = true;
	heap_act(f.heap, &act);
}

static void resize_unkept(uint64_t old, uint64_t handle, uint64_t size)
{
	struct heap_act act = fixture_act(&f, "realloc");

	act.old = old;
	act.handle = handle;
	act.size = size;
	act.failed = !handle;
	act.unkept = true;
	heap_act(f.heap, &act);
}

/* Its handle is in use all the same: its release is none too many. */
START_TEST(not_kept)
{
	const struct heap_options options = { .complete = true };
	const struct heap_total *total;

	fixture_fini(&f);
	fixture_init(&f, &options);
	total = total_of(&f, "malloc");
	acquire(&f, "malloc", 0x10, 1);
	release(&f, "free", 0x10, 0);
	acquire(&f, "malloc", 0x90, 1);
	acquire_unkept("malloc", 0x10, 1);
	release(&f, "free", 0x10, 0);
	acquire_unkept("malloc", 0x20, 1);
	release(&f, "free", 0x20, 0);
	ck_assert_uint_eq(total->double_frees, 0);
	ck_assert_uint_eq(total->invalid_frees, 0);
	ck_assert_uint_eq(total->unknown_frees, 2);
	ck_assert_uint_eq(heap_unkept(f.heap), 2);
	release(&f, "free", 0x20, 0);
	ck_assert_uint_eq(total->double_frees, 1);
	acquire_unkept("mmap", 0x10000, 0x1000);
	check_live("mmap", 0, 0);
	acquire_unkept("malloc", 0, 1);
	ck_assert_uint_eq(total->failed, 0);
	ck_assert_uint_eq(heap_unkept(f.heap), 3);
	/* Something has been acquired since. */
	release(&f, "free", 0x90, 0);
	ck_assert_uint_eq(total->temporary_blocks, 1);
}
END_TEST

START_TEST(resized_while_nothing_is_kept)
{
	acquire(&f, "malloc", 0x10, 1);
	resize_unkept(0x10, 0x20, 5);
	check_live("malloc", 1, 5);
	resize_unkept(0x20, 0, 50);
	check_live("malloc", 1, 5);
	resize_unkept(0, 0x30, 7);
	resize_unkept(0x30, 0x40, 9);
	check_live("malloc", 1, 5);
	ck_assert_uint_eq(heap_unkept(f.heap), 2);
}
END_TEST

START_TEST(program_break)
{
	move("brk", 0x1000, 0, 0); /* from where is not known */
	check_live("brk", 0, 0);
	move("brk", 0x1800, 0, 0);
	check_live("brk", 1, 0x800);
	move("sbrk", 0, 0x1800, 0x100);
	check_live("brk", 2, 0x900);
	move("sbrk", 0, 0x1900, -0x200);
	check_live("brk", 1, 0x700);
	move("sbrk", 0, 0x1700, 0);
	check_live("brk", 1, 0x700);
	move("brk", 0x800, 0, 0);
	check_live("brk", 0, 0);
}
END_TEST

static unsigned component_of(void *context UNUSED, stack_id stack,
			     const char *library)
{
	return stack == 5 ? 2 : library ? 1 : 0;
}

START_TEST(libraries_and_components)
{
	struct heap_options options = { .component = component_of };
	struct fixture g;
	uint64_t bytes[3] = { 0 }, calls[3] = { 0 };

	fixture_init(&g, &options);
	acquire(&g, "malloc", 0x10, 10);
	acquire(&g, "malloc", 0x20, 20);
	release(&g, "free", 0x10, 0);
	g.stack = 5;
	g.library = "libx";
	acquire(&g, "malloc", 0x30, 100);
	g.stack = STACK_NONE;
	acquire(&g, "malloc", 0x40, 5);
	for (size_t i = 0; i < heap_use_count(g.heap); i++) {
		const struct heap_use *use = heap_use_at(g.heap, i);

		calls[use->component] += use->calls;
	}
	ck_assert_uint_eq(calls[0], 1);
	ck_assert_uint_eq(calls[1], 3);
	ck_assert_uint_eq(calls[2], 1);
	for (size_t i = 0; i < heap_holder_count(g.heap); i++) {
		const struct heap_holder *h = heap_holder_at(g.heap, i);

		bytes[h->component] += h->bytes;
		if (h->library && !strcmp(h->library, "main"))
			ck_assert_uint_eq(h->peak_bytes, 30);
	}
	ck_assert_uint_eq(bytes[0], 125);
	ck_assert_uint_eq(bytes[1], 20);
	ck_assert_uint_eq(bytes[2], 100);
	fixture_fini(&g);
}
END_TEST

START_TEST(bounds)
{
	struct heap_options options = { .limits = { 10, 3, 2 } };
	struct fixture g;

	fixture_init(&g, &options);
	for (unsigned i = 1; i <= 12; i++) {
		g.stack = i;
		acquire(&g, "malloc", i * 16, 1);
	}
	ck_assert_uint_eq(total_of(&g, "malloc")->blocks, 10);
	ck_assert_uint_eq(total_of(&g, "malloc")->dropped, 2);
	ck_assert_uint_eq(total_of(&g, "malloc")->merged, 7);
	ck_assert_uint_eq(heap_site_count(g.heap), 4);
	ck_assert_uint_eq(site_of(&g, STACK_NONE, NULL)->blocks, 7);
	for (unsigned i = 1; i <= 10; i++) {
		g.stack = 100 + i;
		release(&g, "free", i * 16, 0);
		release(&g, "free", i * 16, 0);
	}
	ck_assert_uint_eq(total_of(&g, "malloc")->blocks, 0);
	ck_assert_uint_eq(heap_incident_count(g.heap, INCIDENT_DOUBLE_FREE), 2);
	ck_assert_uint_eq(heap_incidents_dropped(g.heap, INCIDENT_DOUBLE_FREE),
			  8);
	fixture_fini(&g);
}
END_TEST

START_TEST(walk_through_blocks)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;
	uint64_t sum = 0, count = 0;

	for (unsigned i = 1; i <= 1000; i++) {
		f.tid = 100 + i % 3;
		acquire(&f, "malloc", i * 16, i);
	}
	acquire(&f, "mmap", 0x10000, 0x3000);
	release(&f, "munmap", 0x11000, 0x1000);
	while (heap_next_block(f.heap, &walk, &block)) {
		sum += block.size;
		count++;
		ck_assert_uint_eq(block.birth, START);
		if (block.site->function->family->granularity)
			continue;
		ck_assert_uint_eq(block.handle, block.size * 16);
		ck_assert_int_eq(block.tid, 100 + block.size % 3);
	}
	ck_assert_uint_eq(count, 1002);
	ck_assert_uint_eq(sum, 1000 * 1001 / 2 + 0x2000);
}
END_TEST

static void check_walk(size_t wanted)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;
	size_t count = 0;

	while (heap_next_block(f.heap, &walk, &block)) {
		ck_assert_uint_eq(block.handle, block.size * 48);
		count++;
	}
	ck_assert_uint_eq(count, wanted);
}

/* Also when most of them have gone on from where they were put first. */
START_TEST(many_blocks)
{
	const unsigned many = 5000;

	for (unsigned i = 1; i <= many; i++)
		acquire(&f, "malloc", i * 48, i);
	check_walk(many);
	/* An old one, one that came last, and so on to the middle. */
	for (unsigned i = 1; i <= many / 4; i++) {
		release(&f, "free", i * 48, 0);
		release(&f, "free", (many + 1 - i) * 48, 0);
	}
	check_walk(many / 2);
	for (unsigned i = many / 4 + 1; i <= many - many / 4; i++)
		acquire(&f, "malloc", i * 48, i);
	check_walk(many / 2);
	ck_assert_uint_eq(total_of(&f, "malloc")->reused, many / 2);
	for (unsigned i = many; i; i--)
		release(&f, "free", i * 48, 0);
	check_live("malloc", 0, 0);
	check_walk(0);
	ck_assert_uint_eq(total_of(&f, "malloc")->freed_blocks,
			  many + many / 2);
}
END_TEST

/* What the table takes, at all fillings between 10,000 and a million. */
START_TEST(bytes_of_a_live_block)
{
	double worst = 0, sum = 0;
	unsigned n = 0;

	for (unsigned i = 1; i <= 1000000; i++) {
		double each;

		acquire(&f, "malloc", i * 32ull + 0x7f0000000000, 24);
		if (i < 10000 || i % 10000)
			continue;
		each = (double)heap_memory(f.heap).block_bytes / i;
		worst = each > worst ? each : worst;
		sum += each;
		n++;
	}
	printf("# bytes a live block: %.1f on average, %.1f at most\n", sum / n,
	       worst);
	ck_assert(sum / n < 34);
	ck_assert(worst < 38);
}
END_TEST

/* What frees nothing twice looks so when a malloc() in between was missed. */
START_TEST(double_frees_in_doubt)
{
	acquire(&f, "malloc", 0x1000, 10);
	release(&f, "free", 0x1000, 0);
	f.now += SECOND;
	release(&f, "free", 0x1000, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 1);
	heap_missed(f.heap, f.now - SECOND / 2, f.now);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->doubtful_frees, 1);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_DOUBLE_FREE), 0);
	f.now += SECOND;
	release(&f, "free", 0x1000, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->doubtful_frees, 2);
	/* From here on all is seen again. */
	f.now += SECOND;
	release(&f, "free", 0x1000, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 1);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_DOUBLE_FREE), 1);
	/* It is of the same pair as the one that was withdrawn. */
	ck_assert_uint_eq(
		heap_incident_at(f.heap, INCIDENT_DOUBLE_FREE, 0)->count, 1);
}
END_TEST

/* What others have made, too, is no mistake, however often it is given back. */
START_TEST(acquired_otherwise)
{
	const struct heap_total *total = total_of(&f, "drop");

	acquire(&f, "make", 0x1000, 0);
	release(&f, "drop", 0x1000, 0);
	for (int i = 0; i < 3; i++)
		release(&f, "drop", 0x1000, 0);
	ck_assert_uint_eq(total->freed_blocks, 1);
	ck_assert_uint_eq(total->unseen_frees, 3);
	ck_assert_uint_eq(total->double_frees, 0);
	ck_assert_uint_eq(total->unknown_frees, 0);
	ck_assert_uint_eq(heap_incident_count(f.heap, INCIDENT_DOUBLE_FREE), 0);
	acquire(&f, "make", 0x2000, 0);
	acquire(&f, "make", 0x2000, 0);
	ck_assert_uint_eq(total->replaced, 1);
	ck_assert_uint_eq(total->reused, 0);
}
END_TEST

/* What can't be closed twice was given in between by something unseen. */
START_TEST(releases_that_tell_of_success)
{
	const struct heap_total *total = total_of(&f, "close");
	struct heap_options options = { 0 };
	struct fixture g;

	acquire(&f, "open", 3, 0);
	for (int i = 0; i < 3; i++)
		release(&f, "close", 3, 0);
	ck_assert_uint_eq(total->freed_blocks, 1);
	ck_assert_uint_eq(total->unseen_frees, 2);
	ck_assert_uint_eq(total->double_frees, 0);
	ck_assert_uint_eq(total->invalid_frees, 0);
	fixture_init(&g, &options);
	release(&g, "close", 3, 0);
	release(&g, "close", 3, 0);
	ck_assert_uint_eq(total_of(&g, "close")->unknown_frees, 1);
	ck_assert_uint_eq(total_of(&g, "close")->unseen_frees, 1);
	fixture_fini(&g);
}
END_TEST

/* Blocks that are usually given back at once were so, unseen; one of a site
   that never gives back is still there. */
START_TEST(blocks_in_doubt)
{
	f.stack = 2;
	acquire(&f, "malloc", 0x9000, 7);
	f.stack = 1;
	acquire(&f, "malloc", 0x1000, 10);
	f.now += SECOND / 100;
	release(&f, "free", 0x1000, 0);
	f.now += 10 * SECOND;
	acquire(&f, "malloc", 0x2000, 10);
	heap_missed(f.heap, f.now - SECOND, f.now + SECOND);
	ck_assert_uint_eq(total_of(&f, "malloc")->blocks, 1);
	ck_assert_uint_eq(total_of(&f, "malloc")->bytes, 7);
	ck_assert_uint_eq(total_of(&f, "malloc")->forgotten, 1);
	release(&f, "free", 0x2000, 0);
	ck_assert_uint_eq(total_of(&f, "malloc")->double_frees, 0);
}
END_TEST

static Suite *heap_suite(void)
{
	Suite *suite = suite_create("heap");
	TCase *tcase = tcase_create("heap");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, acquired_and_released);
	tcase_add_test(tcase, held_at_the_peak);
	tcase_add_test(tcase, peaks_of_families);
	tcase_add_test(tcase, given_back_before_the_next);
	tcase_add_test(tcase, temporary_when_entered);
	tcase_add_test(tcase, failures_and_null);
	tcase_add_test(tcase, resize_rules);
	tcase_add_test(tcase, old_block_reused_before_resize_returns);
	tcase_add_test(tcase, released_before_resize_fails);
	tcase_add_test(tcase, unknown_block_reused_before_resize_returns);
	tcase_add_test(tcase, unknown_block_given_back_before_resize_returns);
	tcase_add_test(tcase, handles_of_one_call);
	tcase_add_test(tcase, resize_that_never_returns);
	tcase_add_test(tcase, release_told_at_entry_and_return);
	tcase_add_test(tcase, release_that_fails);
	tcase_add_test(tcase, release_in_two_families);
	tcase_add_test(tcase, double_and_unknown_frees);
	tcase_add_test(tcase, never_acquired);
	tcase_add_test(tcase, acquired_otherwise);
	tcase_add_test(tcase, releases_that_tell_of_success);
	tcase_add_test(tcase, forms_and_sizes_that_differ);
	tcase_add_test(tcase, released_by_another_library);
	tcase_add_test(tcase, crossed_components);
	tcase_add_test(tcase, inherited_descriptors);
	tcase_add_test(tcase, reused_and_replaced);
	tcase_add_test(tcase, types_of_blocks);
	tcase_add_test(tcase, look_is_forgotten);
	tcase_add_test(tcase, types_of_pieces);
	tcase_add_test(tcase, collected_objects);
	tcase_add_test(tcase, shared_handles);
	tcase_add_test(tcase, shared_handles_from_before);
	tcase_add_test(tcase, parts_of_mappings);
	tcase_add_test(tcase, mappings_moved_and_replaced);
	tcase_add_test(tcase, program_break);
	tcase_add_test(tcase, program_break_at_nothing);
	tcase_add_test(tcase, not_kept);
	tcase_add_test(tcase, resized_while_nothing_is_kept);
	tcase_add_test(tcase, libraries_and_components);
	tcase_add_test(tcase, bounds);
	tcase_add_test(tcase, walk_through_blocks);
	tcase_add_test(tcase, many_blocks);
	tcase_add_test(tcase, bytes_of_a_live_block);
	tcase_add_test(tcase, double_frees_in_doubt);
	tcase_add_test(tcase, blocks_in_doubt);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(heap_suite());
}
