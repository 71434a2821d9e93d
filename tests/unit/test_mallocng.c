/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_mallocng.h"

#include <errno.h>

#include "memory/heap_read.h"
#include "memory/leaks.h"
#include "unit.h"

/* What is made of musl's heap, also of one that somebody has damaged, or built
   so that reading it would never end. */

static struct fake_heap fake;
static struct leaks leaks;

static void setup(void)
{
	fake_init_mallocng(&fake);
	leaks = (struct leaks){ .pid = 0 };
}

static int read_fake(void)
{
	return heap_read(&fake.picture.memory, &fake.mappings, &leaks.glibc);
}

static void find(void)
{
	ck_assert_int_eq(read_fake(), 0);
	reach_find(&fake.picture, &fake.mappings, &leaks.freeze, &leaks.glibc,
		   &(struct reach_options){ .ways = true }, &leaks.reach);
}

static void teardown(void)
{
	reach_result_fini(&leaks.reach);
	glibc_fini(&leaks.glibc);
	fake_fini(&fake);
}

static uint64_t usable_at(taddr_t address)
{
	const struct block *block = blocks_at(&leaks.glibc.blocks, address);

	ck_assert_ptr_nonnull(block);
	return block_usable(block);
}

static void check_trouble(taddr_t where, const char *why)
{
	ck_assert_int_eq(read_fake(), 0);
	ck_assert(!glibc_is_understood(&leaks.glibc));
	ck_assert_str_eq(leaks.glibc.arenas[0].why, why);
	ck_assert_uint_eq(leaks.glibc.arenas[0].trouble, where);
}

START_TEST(whole_heap)
{
	const struct glibc_arena *arena;

	find();
	arena = &leaks.glibc.arenas[0];
	ck_assert(leaks.glibc.musl);
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.glibc.part_count, 3);
	ck_assert_uint_eq(arena->count[BLOCK_USED], NG_USED + 2);
	ck_assert_uint_eq(arena->bytes[BLOCK_USED], NG_USED * 64 + 2 * 32);
	ck_assert_uint_eq(arena->count[BLOCK_FREE], 32 - NG_USED + 5 + 3);
	ck_assert_uint_eq(leaks.glibc.found_maps, 1);
	ck_assert_uint_eq(leaks.glibc.found_map_bytes, 0x3000);
	ck_assert_uint_eq(usable_at(ng_block(5)), 64 - SLOT_TAIL - NG_SPARE);
	ck_assert_uint_eq(usable_at(NG_MAP + 48), 0x3000 - 48 - SLOT_TAIL);
	ck_assert_uint_eq(usable_at(ng_slot(NG_INNER, 32, 1)), 28);
	ck_assert_uint_eq(leaks.reach.totals[REACH_REACHED].blocks,
			  NG_USED + 2);
	ck_assert_uint_eq(leaks.reach.totals[REACH_DEFINITE].blocks, 1);
}
END_TEST

/* A word for the size of pages, as where that is no constant. */
START_TEST(context_with_page_size)
{
	fake_put(&fake, NG_CONTEXT + CONTEXT_LAST + 8, NG_AREA);
	fake_put(&fake, NG_CONTEXT + CONTEXT_FIRST + 8, NG_AREA);
	fake_put(&fake, NG_CONTEXT + CONTEXT_FIRST, 0);
	fake_put(&fake, NG_CONTEXT + CONTEXT_READY + 8, 1);
	fake_put(&fake, NG_CONTEXT + CONTEXT_PAGE, 65536);
	ck_assert_int_eq(read_fake(), 0);
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.glibc.blocks.count, NG_USED + 3);
}
END_TEST

START_TEST(block_of_no_bytes)
{
	fake_put_spare(&fake, ng_block(6), 60);
	find();
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(usable_at(ng_block(5)), 0);
	/* It is reached; what it doesn't hold isn't. */
	ck_assert_uint_eq(leaks.reach.totals[REACH_REACHED].blocks,
			  NG_USED - 5 + 2);
}
END_TEST

START_TEST(being_given_back)
{
	fake_put_head(&fake, ng_block(5), INDEX_GIVEN, 0);
	fake_put_spare(&fake, ng_block(5), NG_SPARE);
	ck_assert_int_eq(read_fake(), 0);
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.glibc.arenas[0].count[BLOCK_USED], NG_USED + 1);
}
END_TEST

/* The first slot of a group whose head says nothing, as it was never written. */
START_TEST(being_taken)
{
	fake_put(&fake, FAKE_ROOTS + 16, 0);
	fake_put_head(&fake, ng_slot(NG_INNER, 32, 0), 0, 0);
	find();
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.reach.totals[REACH_DEFINITE].blocks, 1);
	fake_put(&fake, ng_slot(NG_INNER, 32, 0), 1);
	reach_result_fini(&leaks.reach);
	glibc_fini(&leaks.glibc);
	find();
	ck_assert_uint_eq(leaks.reach.totals[REACH_DEFINITE].blocks, 2);
}
END_TEST

START_TEST(being_made)
{
	fake_put(&fake, NG_GROUP, 0);
	ck_assert_int_eq(read_fake(), 0);
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.glibc.arenas[0].count[BLOCK_USED], 2);
}
END_TEST

START_TEST(another_secret)
{
	fake_put(&fake, NG_AREA + AREA_SECRET, NG_SECRET + 1);
	ck_assert_int_eq(read_fake(), -ENOENT);
}
END_TEST

START_TEST(areas_that_never_end)
{
	fake_put(&fake, FAKE_MAP + 0x1000 + AREA_SECRET, NG_SECRET);
	fake_put(&fake, NG_CONTEXT + CONTEXT_LAST, FAKE_MAP + 0x1000);
	fake_put(&fake, NG_AREA + AREA_NEXT, NG_AREA);
	check_trouble(NG_AREA, "an area doesn't follow another");
}
END_TEST

START_TEST(group_without_class)
{
	fake_put(&fake, ng_meta(NG_META_OUTER) + META_WORD, 3 | 50 << 6);
	check_trouble(ng_meta(NG_META_OUTER), "a group makes no sense");
}
END_TEST

START_TEST(group_in_a_broken_ring)
{
	fake_put(&fake, ng_meta(NG_META_OUTER) + META_NEXT,
		 ng_meta(NG_META_GROUP));
	fake_put(&fake, ng_meta(NG_META_OUTER) + META_PREVIOUS,
		 ng_meta(NG_META_GROUP));
	check_trouble(ng_meta(NG_META_OUTER), "a group makes no sense");
}
END_TEST

START_TEST(group_of_another_meta)
{
	fake_put(&fake, NG_OUTER, ng_meta(NG_META_GROUP));
	check_trouble(NG_OUTER, "a group doesn't know itself");
}
END_TEST

START_TEST(group_in_the_way)
{
	fake_put_meta(&fake, NG_META_INNER, NG_GROUP + 0x800, 31 | 11 << 6, 0);
	check_trouble(NG_GROUP + 0x800, "it lies in another group");
}
END_TEST

START_TEST(slot_of_another_index)
{
	fake_put_head(&fake, ng_block(5), 6, 5 * 64);
	fake_put_spare(&fake, ng_block(5), NG_SPARE);
	find();
	ck_assert_str_eq(leaks.glibc.arenas[0].why, "a slot makes no sense");
	ck_assert_ptr_null(blocks_at(&leaks.glibc.blocks, ng_block(5)));
	/* What it holds is reached: nobody knows that it doesn't. */
	ck_assert_uint_eq(leaks.reach.totals[REACH_REACHED].blocks,
			  NG_USED - 1 + 2);
}
END_TEST

START_TEST(slot_that_spares_more_than_it_has)
{
	fake_put_spare(&fake, ng_block(6), 61);
	check_trouble(NG_GROUP, "a slot makes no sense");
}
END_TEST

/* A mapping of which nothing is there, to where address space ends. */
START_TEST(group_without_memory)
{
	fake_put(&fake, ng_meta(NG_META_MAP) + META_WORD,
		 CLASS_MAPPED << 6 | UINT64_C(0xfffffffff) << 12);
	check_trouble(NG_MAP, "a slot makes no sense");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		whole_heap,
		context_with_page_size,
		block_of_no_bytes,
		being_given_back,
		being_taken,
		being_made,
		another_secret,
		areas_that_never_end,
		group_without_class,
		group_in_a_broken_ring,
		group_of_another_meta,
		group_in_the_way,
		slot_of_another_index,
		slot_that_spares_more_than_it_has,
		group_without_memory,
	};

	return unit_run_tests("mallocng", setup, teardown, tests,
			      ARRAY_SIZE(tests));
}
