/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_heap.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/finder.h"
#include "memory/heap_shape.h"
#include "memory/held.h"
#include "memory/holders.h"
#include "memory/object_heap.h"
#include "memory/pages.h"
#include "memory/ruby_classes.h"
#include "memory/ruby_ids.h"
#include "memory/ruby_stacks.h"
#include "snapshot/snapshot.h"
#include "sysdeps/linux/pagemap.h"
#include "unit.h"

/* What is made of a heap, also of one that somebody has damaged, or built so
   that reading it would never end. */

static struct fake_heap fake;
static struct leaks leaks;

static void setup(void)
{
	fake_init(&fake);
	leaks = (struct leaks){ .pid = 0 };
}

static void read_fake(void)
{
	ck_assert_int_eq(glibc_read(&fake.picture.memory, &fake.mappings,
				    &leaks.glibc),
			 0);
}

static void find(void)
{
	read_fake();
	reach_find(&fake.picture, &fake.mappings, &leaks.freeze, &leaks.glibc,
		   &(struct reach_options){ .ways = true }, &leaks.reach);
}

static void teardown(void)
{
	reach_result_fini(&leaks.reach);
	glibc_fini(&leaks.glibc);
	fake_fini(&fake);
}

static uint64_t blocks_of(enum reach kind)
{
	return leaks.reach.totals[kind].blocks;
}

/* Of one arena. */
static uint64_t count_of(size_t arena, enum block_state state)
{
	return leaks.glibc.arenas[arena].count[state];
}

START_TEST(whole_heap)
{
	find();
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(leaks.glibc.arena_count, 2);
	ck_assert_uint_eq(leaks.glibc.part_count, 3);
	/* With the cache's block: it is empty, and known by its place. */
	ck_assert_uint_eq(leaks.glibc.caches, 1);
	ck_assert_uint_eq(count_of(0, BLOCK_USED), FAKE_COUNT + 1);
	ck_assert_uint_eq(count_of(1, BLOCK_USED), FAKE_COUNT / 2);
	ck_assert_uint_eq(count_of(0, BLOCK_TOP), 1);
	ck_assert_uint_eq(leaks.glibc.found_maps, 1);
	ck_assert_uint_eq(blocks_of(REACH_REACHED), FAKE_COUNT * 3 / 2 + 1);
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
}
END_TEST

START_TEST(caches)
{
	fake_put_cache(&fake, 5);
	read_fake();
	ck_assert(glibc_is_understood(&leaks.glibc));
	ck_assert(leaks.glibc.scrambled);
	ck_assert_uint_eq(leaks.glibc.caches, 1);
	ck_assert_uint_eq(count_of(0, BLOCK_TCACHE), 5);
}
END_TEST

START_TEST(caches_that_never_end)
{
	fake_put_cache(&fake, 5);
	/* Its count says 5; but the list goes round. */
	fake_put(&fake, fake_block(4), fake_block(4) >> 12 ^ fake_block(0));
	read_fake();
	ck_assert_uint_eq(leaks.glibc.caches, 0);
	ck_assert_uint_eq(count_of(0, BLOCK_TCACHE), 0);
}
END_TEST

/* All arenas' lists lead into one circle. */
START_TEST(fastbins_that_never_end)
{
	for (unsigned i = 0; i < FAKE_COUNT; i++)
		fake_put(&fake, fake_block(i),
			 fake_block(i) >> 12 ^
				 (fake_block((i + 1) % FAKE_COUNT) - 16));
	for (unsigned i = 0; i < ARENA_FAST_COUNT; i++)
		fake_put(&fake, FAKE_MAIN + ARENA_FAST + 8 * i,
			 fake_block(0) - 16);
	read_fake();
	ck_assert_uint_eq(leaks.glibc.bad_lists, ARENA_FAST_COUNT);
	ck_assert(!glibc_is_understood(&leaks.glibc));
}
END_TEST

static void check_trouble(size_t arena, taddr_t where, const char *why)
{
	read_fake();
	ck_assert(!glibc_is_understood(&leaks.glibc));
	ck_assert_str_eq(leaks.glibc.arenas[arena].why, why);
	ck_assert_uint_eq(leaks.glibc.arenas[arena].trouble, where);
}

START_TEST(chunk_without_size)
{
	fake_put(&fake, fake_block(9) - 8, 0);
	check_trouble(0, fake_block(9) - 16, "a chunk has an impossible size");
	ck_assert_uint_eq(count_of(0, BLOCK_USED), 10);
}
END_TEST

START_TEST(chunk_beyond_everything)
{
	fake_put(&fake, fake_block(9) - 8, ~UINT64_C(15) | CHUNK_PREV_IN_USE);
	check_trouble(0, fake_block(9) - 16, "a chunk has an impossible size");
}
END_TEST

START_TEST(chunk_longer_than_its_arena)
{
	const taddr_t first = (FAKE_ARENA + ARENA_SIZE + 15) & ~UINT64_C(15);

	fake_put(&fake, first + 8,
		 0x21000 | CHUNK_PREV_IN_USE | CHUNK_OTHER_ARENA);
	check_trouble(1, first, "a chunk is longer than its arena");
}
END_TEST

/* One that reaches to where address space ends, of which nothing is there. */
START_TEST(block_without_memory)
{
	struct heap_shape shape;

	fake_put(&fake, fake_block(9) - 8,
		 (UINT64_C(1) << 35) | CHUNK_PREV_IN_USE);
	fake_put(&fake, FAKE_ROOTS, fake_block(9) + (UINT64_C(1) << 34));
	find();
	ck_assert(!glibc_is_understood(&leaks.glibc));
	ck_assert_uint_eq(blocks_of(REACH_POSSIBLE), 10);
	heap_shape_find(&leaks.glibc, 0, &shape);
	ck_assert_uint_eq(shape.sizes[0].bytes, UINT64_C(1) << 35);
	heap_shape_fini(&shape);
}
END_TEST

START_TEST(heaps_that_never_end)
{
	fake_put(&fake, FAKE_THREAD + HEAP_PREVIOUS, FAKE_THREAD);
	read_fake();
	ck_assert_str_eq(leaks.glibc.arenas[1].why, "it lies in another arena");
	/* The other one is what it was. */
	ck_assert_ptr_null(leaks.glibc.arenas[0].why);
}
END_TEST

START_TEST(heap_shorter_than_its_head)
{
	fake_put(&fake, FAKE_THREAD + HEAP_SIZE, 0x100);
	check_trouble(1, FAKE_ARENA, "its parts weren't found");
}
END_TEST

START_TEST(ring_that_goes_on)
{
	/* It never comes back to where it began: both aren't arenas. */
	fake_put(&fake, FAKE_ARENA + ARENA_NEXT, FAKE_ARENA);
	ck_assert_int_eq(glibc_read(&fake.picture.memory, &fake.mappings,
				    &leaks.glibc),
			 -ENOENT);
}
END_TEST

/*
 * Each word of the data says where it lies itself, less sixteen: so an arena
 * with empty bins begins everywhere, and leads to the one before.
 */
START_TEST(arenas_everywhere)
{
	for (taddr_t at = FAKE_DATA; at < FAKE_DATA + 0x2000; at += 8)
		fake_put(&fake, at, at - at % 16 - 16);
	ck_assert_int_eq(glibc_read(&fake.picture.memory, &fake.mappings,
				    &leaks.glibc),
			 -ENOENT);
}
END_TEST

START_TEST(lost_chain)
{
	fake_put(&fake, FAKE_ROOTS, fake_block(9));
	find();
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 1);
	ck_assert_uint_eq(blocks_of(REACH_INDIRECT), FAKE_COUNT - 11);
	ck_assert_uint_eq(leaks.reach.ring_count, 0);
}
END_TEST

START_TEST(lost_ring)
{
	fake_put(&fake, FAKE_ROOTS, 0);
	fake_put(&fake, fake_block(0) + 8, fake_block(FAKE_COUNT - 1));
	find();
	ck_assert_uint_eq(leaks.reach.ring_count, 1);
	ck_assert_uint_eq(leaks.reach.rings[0].blocks, FAKE_COUNT);
	ck_assert_uint_eq(leaks.reach.rings[0].first, fake_block(0));
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE) + blocks_of(REACH_INDIRECT),
			  FAKE_COUNT);
}
END_TEST

START_TEST(pointer_into_the_middle)
{
	fake_put(&fake, FAKE_ROOTS, fake_block(FAKE_COUNT - 1) + 24);
	find();
	ck_assert_uint_eq(blocks_of(REACH_POSSIBLE), FAKE_COUNT);
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
}
END_TEST

/* Blocks hold 56 bytes; a wrapper's head has the size among its words. */
static void check_head(taddr_t block, unsigned offset, unsigned word,
		       uint64_t size, uint64_t possible)
{
	const bool mapped = block == FAKE_MAP + 16;

	teardown();
	setup();
	fake_put(&fake, FAKE_ROOTS + (mapped ? 8 : 0), block + offset);
	fake_put(&fake, block + word, size);
	find();
	ck_assert_uint_eq(blocks_of(REACH_POSSIBLE), possible);
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
}

START_TEST(pointer_behind_a_wrappers_head)
{
	const taddr_t last = fake_block(FAKE_COUNT - 1);

	/* What follows; with a flag; with the head; in whole pages. */
	check_head(last, 24, 16, 32, 0);
	check_head(last, 40, 16, 16, 0);
	check_head(last, 24, 16, 26, 0);
	check_head(last, 24, 0, 56, 0);
	check_head(FAKE_MAP + 16, 24, 0, 0x2000, 0);
}
END_TEST

START_TEST(pointer_behind_what_is_no_head)
{
	const taddr_t last = fake_block(FAKE_COUNT - 1);

	/* More than there is; too little; no word of the head; what no malloc() of a
	   size of whole words would have made so large. */
	check_head(last, 24, 16, 72, FAKE_COUNT);
	check_head(last, 24, 16, UINT64_MAX, FAKE_COUNT);
	check_head(last, 24, 0, 8, FAKE_COUNT);
	check_head(last, 24, 24, 32, FAKE_COUNT);
	check_head(last, 27, 16, 32, FAKE_COUNT);
	check_head(last, 24, 16, 17, FAKE_COUNT);
	check_head(last, 24, 0, 23, FAKE_COUNT);
	check_head(last, 24, 0, 47, FAKE_COUNT);
}
END_TEST

/* Where the processor leaves bits out that the program has something in; the block
   with a mapping of its own holds all others. */
static void find_tagged(uint64_t tags)
{
	const uint64_t tag = UINT64_C(0x5a) << 56;

	fake.mappings.tags = tags;
	fake_put(&fake, FAKE_ROOTS + 8, tag | (FAKE_MAP + 16));
	fake_put(&fake, FAKE_ROOTS, 0);
	fake_put(&fake, FAKE_MAP + 0x40, tag | fake_block(FAKE_COUNT - 1));
	find();
}

START_TEST(pointers_with_tags)
{
	find_tagged(UINT64_C(0xff) << 56);
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
	ck_assert_uint_eq(blocks_of(REACH_INDIRECT), 0);
	ck_assert_uint_eq(blocks_of(REACH_POSSIBLE), 0);
}
END_TEST

START_TEST(pointers_with_bits_that_are_no_tags)
{
	find_tagged(UINT64_C(0x3f) << 57 & ~(UINT64_C(1) << 57));
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 2);
}
END_TEST

/* In a register, too. */
START_TEST(registers_with_tags)
{
	const uint64_t word = UINT64_C(0x5a) << 56 | (FAKE_MAP + 16);
	struct frozen_task task = { .known = true };

	memcpy(&task.regs, &word, sizeof(word));
	leaks.freeze = (struct freeze){ .tasks = &task, .count = 1 };
	fake.mappings.tags = UINT64_C(0xff) << 56;
	fake_put(&fake, FAKE_ROOTS + 8, 0);
	find();
	leaks.freeze = (struct freeze){ .count = 0 };
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
}
END_TEST

/* The variable has a name. */
START_TEST(registers_that_say_what_variables_do)
{
	const uint64_t word = fake_block(FAKE_COUNT - 1);
	struct frozen_task task = { .known = true };
	const struct block *block;

	memcpy(&task.regs, &word, sizeof(word));
	leaks.freeze = (struct freeze){ .tasks = &task, .count = 1 };
	fake_put(&fake, FAKE_ROOTS, word);
	find();
	leaks.freeze = (struct freeze){ .count = 0 };
	block = blocks_at(&leaks.glibc.blocks, word);
	ck_assert_uint_eq(leaks.reach.ways[block - leaks.glibc.blocks.list],
			  FAKE_ROOTS);
}
END_TEST

static bool pass_over_none(void *context UNUSED, uint64_t pointer UNUSED,
			   taddr_t where UNUSED)
{
	return false;
}

/* What only a piece of an interpreter's leads to, which nothing leads to itself, is
   held by that: all that is reached is in the tree. */
START_TEST(piece_that_nothing_leads_to)
{
	const struct reach_rule rule = { .passes_over = pass_over_none };
	const taddr_t first = (FAKE_ARENA + ARENA_SIZE + 15) & ~UINT64_C(15);
	struct block_names *names;
	struct held_tree tree;
	uint64_t reached;

	fake_put(&fake, FAKE_ROOTS + 0x100, 0);
	fake_put(&fake, FAKE_ROOTS + 8, 0);
	fake_put(&fake, first + 16, FAKE_MAP + 16);
	read_fake();
	leaks.mappings = fake.mappings;
	leaks.picture = fake.picture;
	for (size_t i = 0; i < leaks.glibc.part_count; i++)
		leaks.glibc.parts[i].objects = leaks.glibc.parts[i].start ==
					       first;
	reach_find(&fake.picture, &fake.mappings, &leaks.freeze, &leaks.glibc,
		   &(struct reach_options){ .ways = true, .rule = &rule },
		   &leaks.reach);
	reached = blocks_of(REACH_REACHED);
	ck_assert_uint_eq(reached, FAKE_COUNT + FAKE_COUNT / 2 - 1 + 1);
	names = block_names_new(&leaks);
	ck_assert_int_eq(held_find(&leaks, names, &tree), 0);
	ck_assert_uint_eq(tree.list[0].all_blocks, reached);
	held_fini(&tree);
	block_names_free(names);
}
END_TEST

START_TEST(pointer_behind_the_end)
{
	fake_put(&fake, FAKE_ROOTS, fake_block(FAKE_COUNT - 1) + 0x38);
	find();
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 1);
	ck_assert_uint_eq(blocks_of(REACH_INDIRECT), FAKE_COUNT - 1);
}
END_TEST

static void find_with(bool object)
{
	read_fake();
	if (object)
		blocks_at(&leaks.glibc.blocks, fake_block(FAKE_COUNT - 1))
			->object = true;
	reach_find(&fake.picture, &fake.mappings, &leaks.freeze, &leaks.glibc,
		   &(struct reach_options){ .ways = true }, &leaks.reach);
}

/* How far in its memory an object lies is said in a table of a library's. */
static void check_behind(taddr_t table, bool object, uint64_t possible)
{
	fake_put(&fake, FAKE_ROOTS, fake_block(FAKE_COUNT - 1) + 24);
	fake_put(&fake, fake_block(FAKE_COUNT - 1) + 24 + 24, table);
	fake_put(&fake, table, 24);
	find_with(object);
	ck_assert_uint_eq(blocks_of(REACH_POSSIBLE), possible);
	ck_assert_uint_eq(blocks_of(REACH_DEFINITE), 0);
}

START_TEST(pointer_behind_what_a_class_adds)
{
	check_behind(FAKE_TABLES + 0x100, true, 0);
}
END_TEST

START_TEST(pointer_behind_what_no_class_adds)
{
	check_behind(FAKE_HEAP + 0x2000, true, FAKE_COUNT);
}
END_TEST

START_TEST(pointer_into_what_is_no_object)
{
	check_behind(FAKE_TABLES + 0x100, false, FAKE_COUNT);
}
END_TEST

/* Slots of 40 bytes: each second one begins where the one before has 8 more. */
START_TEST(pieces_that_share_a_unit)
{
	struct glibc_part part = { .start = 0x1000, .end = 0x1000 + 64 * 40 };
	struct glibc pieces = { .parts = &part, .part_count = 1 };
	struct finder finder;

	blocks_init(&pieces.blocks);
	for (part.count = 0; part.count < 64; part.count++)
		blocks_add(&pieces.blocks,
			   &(struct block){
				   .address = part.start + part.count * 40,
				   .units = 3,
				   .behind = 8,
				   .state = BLOCK_USED,
			   });
	finder_init(&finder, &pieces);
	ck_assert_ptr_nonnull(finder.parts[0].words);
	for (taddr_t at = part.start; at < part.end; at++)
		ck_assert_ptr_eq(finder_look(&finder, at),
				 &pieces.blocks.list[(at - part.start) / 40]);
	ck_assert_ptr_null(finder_look(&finder, part.end));
	finder_fini(&finder);
	blocks_fini(&pieces.blocks);
}
END_TEST

/* What a thread of Ruby's knows of its stack: where that is, its words, its frame. */
#define STACK       (FAKE_MAP + 0x1000)
#define STACK_WORDS 1024
#define STACK_END   (STACK + 8 * STACK_WORDS)
#define THREAD      (FAKE_MAP + 0x100)

static void put_context(taddr_t at, taddr_t stack, uint64_t words,
			taddr_t frame)
{
	fake_put(&fake, at, stack);
	fake_put(&fake, at + 8, words);
	fake_put(&fake, at + 16, frame);
}

static struct ruby_stacks find_stacks(void)
{
	struct block thread = { .address = THREAD,
				.units = 32,
				.state = BLOCK_USED };
	const struct blocks blocks = { .list = &thread, .count = 1 };
	struct ruby_stacks stacks;

	ruby_stacks_find(&fake.picture.memory, &fake.mappings, &blocks,
			 &stacks);
	return stacks;
}

/* Values up to where the frame says, and frames, are in use. */
START_TEST(stack_of_a_thread_of_rubys)
{
	const taddr_t frame = STACK_END - 0x80;
	struct ruby_stacks stacks;
	const struct ruby_stack *stack;

	put_context(THREAD + 8, STACK, STACK_WORDS, frame);
	fake_put(&fake, frame + 8, STACK + 0x40);
	stacks = find_stacks();
	ck_assert_uint_eq(stacks.count, 1);
	stack = ruby_stacks_around(&stacks, STACK);
	ck_assert_ptr_eq(stack, stacks.list);
	ck_assert_ptr_eq(ruby_stacks_around(&stacks, STACK_END - 8), stack);
	ck_assert_ptr_null(ruby_stacks_around(&stacks, STACK - 8));
	ck_assert_ptr_null(ruby_stacks_around(&stacks, STACK_END));
	ck_assert(ruby_stack_uses(stack, STACK + 0x38));
	ck_assert(!ruby_stack_uses(stack, STACK + 0x40));
	ck_assert(!ruby_stack_uses(stack, frame - 8));
	ck_assert(ruby_stack_uses(stack, frame));
	ruby_stacks_fini(&stacks);
}
END_TEST

static void check_no_stack(taddr_t at, uint64_t words, taddr_t frame,
			   taddr_t values_end)
{
	struct ruby_stacks stacks;

	put_context(THREAD, at, words, frame);
	fake_put(&fake, frame + 8, values_end);
	stacks = find_stacks();
	ck_assert_uint_eq(stacks.count, 0);
	ruby_stacks_fini(&stacks);
}

START_TEST(words_that_are_no_stack)
{
	const taddr_t frame = STACK_END - 0x80;

	check_no_stack(STACK, STACK_WORDS, frame, frame + 8);
	check_no_stack(STACK, STACK_WORDS, frame, STACK - 8);
	check_no_stack(STACK, STACK_WORDS, frame, STACK + 4);
	check_no_stack(STACK, STACK_WORDS, STACK_END, STACK);
	check_no_stack(STACK, STACK_WORDS, STACK - 8, STACK);
	check_no_stack(STACK, 16, STACK + 0x40, STACK);
	check_no_stack(STACK, UINT64_MAX / 8, frame, STACK);
	check_no_stack(-(taddr_t)0x1000, STACK_WORDS, frame, STACK);
	/* It goes on behind the mapping; nobody can write there. */
	check_no_stack(STACK, STACK_WORDS + 1, frame, STACK);
	check_no_stack(FAKE_TABLES, STACK_WORDS, FAKE_TABLES + 0x40,
		       FAKE_TABLES);
}
END_TEST

/* Who says that there are two in one place has one. */
START_TEST(stacks_that_overlap)
{
	const taddr_t frame = STACK_END - 0x80;
	struct ruby_stacks stacks;

	put_context(THREAD, STACK, STACK_WORDS, frame);
	put_context(THREAD + 24, STACK, STACK_WORDS, frame);
	fake_put(&fake, frame + 8, STACK);
	stacks = find_stacks();
	ck_assert_uint_eq(stacks.count, 1);
	ruby_stacks_fini(&stacks);
}
END_TEST

/* One that takes in another, in front of it or not, is none. */
START_TEST(stacks_that_others_take_in)
{
	const taddr_t stack = FAKE_HEAP + 0x800, frame = FAKE_HEAP + 0x2700;
	const taddr_t wide[] = { FAKE_HEAP, FAKE_HEAP + 0x1000 };
	const taddr_t wide_frame = FAKE_HEAP + 0x2f00;

	put_context(THREAD + 24, stack, STACK_WORDS, frame);
	fake_put(&fake, frame + 8, stack);
	fake_put(&fake, wide_frame + 8, FAKE_HEAP + 0x1800);
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		struct ruby_stacks stacks;
		struct block owners[] = {
			{ .address = THREAD, .units = 17 },
			{ .address = THREAD + 24, .units = 17 },
		};
		const struct blocks blocks = { .list = owners, .count = 2 };

		put_context(THREAD, wide[i], 4 * STACK_WORDS, wide_frame);
		ruby_stacks_find(&fake.picture.memory, &fake.mappings, &blocks,
				 &stacks);
		ck_assert_uint_eq(stacks.count, 1);
		ck_assert_uint_eq(stacks.list[0].start, stack);
		ck_assert_uint_eq(stacks.list[0].end, stack + 8 * STACK_WORDS);
		ruby_stacks_fini(&stacks);
	}
}
END_TEST

/* Memory that counts how often it is read. */
struct counted {
	struct memory memory;
	size_t reads;
};

static size_t read_counted(struct memory *memory, taddr_t address, void *ret,
			   size_t size)
{
	((struct counted *)memory)->reads++;
	return memory_read_some(&fake.picture.memory, address, ret, size);
}

static const struct memory_ops counted_ops = { .read = read_counted };

/* So many blocks that all are the same one. */
static struct blocks same_blocks(size_t count, const struct block *block)
{
	struct blocks blocks;

	blocks_init(&blocks);
	while (count--)
		blocks_add(&blocks, block);
	return blocks;
}

/* Each has ten, with frames that say nothing. */
START_TEST(stacks_that_are_made_up)
{
	const size_t owners = 200000;
	struct counted counted = { { &counted_ops }, 0 };
	struct blocks blocks =
		same_blocks(owners, &(struct block){ .address = THREAD,
						     .units = 17,
						     .behind = 8,
						     .state = BLOCK_USED });
	struct ruby_stacks stacks;

	for (taddr_t at = THREAD; at + 24 <= THREAD + 256; at += 24)
		put_context(at, STACK, STACK_WORDS, STACK_END - 0x80);
	ruby_stacks_find(&counted.memory, &fake.mappings, &blocks, &stacks);
	ck_assert_uint_eq(stacks.count, 0);
	ck_assert_uint_lt(counted.reads, 2 * owners);
	ruby_stacks_fini(&stacks);
	blocks_fini(&blocks);
}
END_TEST

/* An array of the interpreter's own. */
static void put_array(taddr_t at, uint64_t count, taddr_t items)
{
	fake_put(&fake, at, RUBY_ARRAY);
	fake_put(&fake, at + 8, 0);
	fake_put(&fake, at + 16, count);
	fake_put(&fake, at + 32, items);
}

/* Whose rows are all right but the last one, and who share them. */
START_TEST(tables_of_names_that_are_made_up)
{
	const taddr_t array = FAKE_MAP, row = FAKE_MAP + 0x40;
	const taddr_t rows = FAKE_MAP + 0x80;
	const uint64_t count = 1400;
	struct counted counted = { { &counted_ops }, 0 };
	struct blocks blocks =
		same_blocks(4000, &(struct block){ .address = array,
						   .units = 3,
						   .object = true });
	struct ruby_ids ids;

	put_array(array, count, rows);
	put_array(row, 1024, FAKE_HEAP);
	for (uint64_t i = 0; i + 1 < count; i++)
		fake_put(&fake, rows + 8 * i, row);
	fake_put(&fake, rows + 8 * (count - 1), 0);
	ruby_ids_find(&counted.memory, &blocks, &ids);
	ck_assert_uint_eq(ids.row_count, 0);
	/* Four times for each of them. */
	ck_assert_uint_gt(counted.reads, 4 * count);
	ck_assert_uint_lt(counted.reads, blocks.count * count);
	blocks_fini(&blocks);
}
END_TEST

/* Objects whose variables are looked for among 500, and aren't there. */
START_TEST(variables_that_have_no_end)
{
	const taddr_t object = FAKE_MAP, table = FAKE_MAP + 0x40;
	const taddr_t entries = FAKE_HEAP, number = FAKE_MAP + 0x100;
	struct counted counted = { { &counted_ops }, 0 };
	const struct blocks none = { .count = 0 };
	char text[RUBY_TEXT_ROOM];
	struct ruby_ids ids;

	ruby_ids_find(&counted.memory, &none, &ids);
	fake_put(&fake, object, RUBY_OBJECT);
	fake_put(&fake, object + 32, table);
	fake_put(&fake, table + 40, 0x10000);
	fake_put(&fake, table + 32, 0x10000 - 500);
	fake_put(&fake, table + 48, entries - (0x10000 - 500) * 24);
	for (taddr_t i = 0; i < 500; i++)
		fake_put(&fake, entries + i * 24 + 16, number);
	fake_put(&fake, number, 7);
	ids.left = 1200;
	for (unsigned i = 0; i < 10; i++)
		ck_assert(!ruby_ids_variable(&ids, object, 8, false, text));
	ck_assert_uint_eq(ids.left, 0);
	ck_assert_uint_gt(counted.reads, 2 * 1200);
	ck_assert_uint_lt(counted.reads, 2 * 1200 + 100);
}
END_TEST

static uint8_t behind_of(size_t index)
{
	/* All that is said apart, and what glibc's have. */
	static const uint8_t of[] = { 0,  1,  8,  15,  16,  17,
				      18, 31, 63, 128, 254, 255 };

	return of[index % ARRAY_SIZE(of)];
}

static void fill(struct snapshot *snapshot)
{
	struct leaks *kept = &snapshot->leaks;
	struct blocks *blocks = &kept->glibc.blocks;

	*snapshot = (struct snapshot){ .has_blocks = true };
	blocks_init(blocks);
	for (unsigned i = 0; i < 24; i++)
		blocks_add(blocks, &(struct block){
					   .address = FAKE_HEAP + i * 0x400,
					   .units = 16 + i,
					   .behind = behind_of(i),
					   .mapped = i >= 12,
					   .state = BLOCK_USED,
				   });
	kept->reach.ways = xcalloc(blocks->count, sizeof(*kept->reach.ways));
	picture_init(&kept->picture);
	snapshot->owners.of =
		xcalloc(blocks->count, sizeof(*snapshot->owners.of));
	snapshot->names = block_names_new(kept);
}

/* Blocks have their true size in a file. */
START_TEST(kept_blocks_have_their_size)
{
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	struct snapshot written, found;

	fill(&written);
	snapshot_write(&written, &file);
	ck_assert_ptr_null(snapshot_read(file.text, file.length, &found));
	ck_assert_uint_eq(found.leaks.glibc.blocks.count, 24);
	for (size_t i = 0; i < 24; i++) {
		const struct block *block = &found.leaks.glibc.blocks.list[i];

		ck_assert_uint_eq(block->address, FAKE_HEAP + i * 0x400);
		ck_assert_uint_eq(block->behind, behind_of(i));
		ck_assert_uint_eq(block_usable(block),
				  (16 + i) * BLOCK_UNIT - behind_of(i));
	}
	snapshot_fini(&found);
	snapshot_fini(&written);
}
END_TEST

static void check_chain(taddr_t address, uint64_t links)
{
	char whose[32];
	struct block_names *names = block_names_new(&leaks);
	struct owners owners;
	struct holders holders;

	owners_find(&leaks, &owners);
	snprintf(whose, sizeof(whose), "0x%llx", (unsigned long long)address);
	ck_assert_int_eq(holders_find(&leaks, names, &owners, whose, &holders),
			 0);
	ck_assert_uint_eq(holders.count, 1);
	ck_assert_uint_eq(holders.chains[0].count, links);
	holders_fini(&holders);
	owners_fini(&owners);
	block_names_free(names);
}

START_TEST(long_chains_are_cut)
{
	find();
	leaks.mappings = fake.mappings;
	leaks.picture = fake.picture;
	check_chain(fake_block(FAKE_COUNT - 1), 2);
	check_chain(fake_block(FAKE_COUNT - 5), 6);
	check_chain(fake_block(0), 63);
}
END_TEST

/* A picture is read across what is there and what isn't. */
START_TEST(picture_across_runs)
{
	const taddr_t end = FAKE_HEAP + 0x3000;
	uint64_t words[4] = { 1, 1, 1, 1 };

	fake_put(&fake, end - 8, 77);
	ck_assert_int_eq(memory_read(&fake.picture.memory, end - 16, words,
				     sizeof(words)),
			 0);
	ck_assert_uint_eq(words[1], 77);
	ck_assert_uint_eq(words[2] | words[3], 0);
}
END_TEST

/* Of each page, whether it is there and whether it is in swap. */
START_TEST(picture_by_kinds_of_pages)
{
	const taddr_t start = FAKE_HEAP + 0x1000;
	size_t hint = 0;
	struct page_sums sums =
		picture_count(&fake.picture, &hint, start, start + 0x1800);

	ck_assert_uint_eq(sums.resident, 0x1800);
	ck_assert_uint_eq(sums.huge | sums.swapped, 0);
	for (size_t i = 0; i < fake.picture.count; i++)
		fake.picture.runs[i].huge = true;
	sums = picture_count(&fake.picture, &hint, start, start + 0x1800);
	ck_assert_uint_eq(sums.huge, 0x1800);
	for (size_t i = 0; i < fake.picture.count; i++)
		fake.picture.runs[i] = (struct picture_run){
			.start = fake.picture.runs[i].start,
			.end = fake.picture.runs[i].end,
			.bytes = fake.picture.runs[i].bytes,
			.huge = true, /* the kernel was moving it */
			.swapped = true,
		};
	sums = picture_count(&fake.picture, &hint, start, start + 0x1800);
	ck_assert_uint_eq(sums.swapped, 0x1800);
	ck_assert_uint_eq(sums.huge | sums.resident, 0);
}
END_TEST

/* /proc/PID/pagemap, as proc(5) has its words. */
#define PRESENT (UINT64_C(1) << 63)
#define THERE   (PRESENT | 0x1234)
#define SWAPPED (UINT64_C(1) << 62 | 0x60)

struct told_run {
	taddr_t begin, end;
	bool swapped;
};

static void check_runs(struct pagemap *map, taddr_t end,
		       int (*next)(struct pagemap *, taddr_t, taddr_t,
				   struct page_run *),
		       const struct told_run *told, size_t count)
{
	struct page_run run = { .end = 0 };

	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(next(map, run.end, end, &run), 0);
		ck_assert_uint_eq(run.begin, told[i].begin * 4096);
		ck_assert_uint_eq(run.end, told[i].end * 4096);
		ck_assert_int_eq(run.swapped, told[i].swapped);
		ck_assert(!run.huge);
	}
	ck_assert_int_eq(next(map, run.end, end, &run), 0);
	ck_assert_uint_eq(run.begin, run.end);
}

static struct pagemap pagemap_of(const uint64_t *words, size_t size,
				 uint64_t zero_frame)
{
	struct pagemap map = { .fd = memfd_create("pagemap", MFD_CLOEXEC),
			       .zero_frame = zero_frame };

	ck_assert_int_ge(map.fd, 0);
	ck_assert_int_eq(write(map.fd, words, size), (ssize_t)size);
	return map;
}

START_TEST(pages_that_are_swapped_out)
{
	const uint64_t words[] = { 0,       THERE, THERE, SWAPPED, SWAPPED, 0,
				   SWAPPED, THERE, 0,     SWAPPED, 0,       0 };
	const taddr_t end = ARRAY_SIZE(words) * 4096;
	const struct told_run there[] = { { 1, 3, false }, { 7, 8, false } };
	const struct told_run kept[] = { { 1, 3, false },
					 { 3, 5, true },
					 { 6, 7, true },
					 { 7, 8, false },
					 { 9, 10, true } };
	struct pagemap map = pagemap_of(words, sizeof(words), 0);

	check_runs(&map, end, pagemap_next, there, ARRAY_SIZE(there));
	check_runs(&map, end, pagemap_next_kept, kept, ARRAY_SIZE(kept));
	pagemap_close(&map);
}
END_TEST

/* Before Linux 6.7 a mapping of 64 GiB is read entry by entry, a larger one isn't. */
START_TEST(pages_of_more_than_is_read)
{
	const uint64_t pages = UINT64_C(1) << 24, word = THERE;
	const taddr_t end = pages * 4096;
	const struct told_run last[] = { { pages - 1, pages, false } };
	struct pagemap map = pagemap_of(&word, 0, 0);
	struct page_run run;

	ck_assert_int_eq(pwrite(map.fd, &word, sizeof(word),
				(off_t)((pages - 1) * sizeof(word))),
			 sizeof(word));
	check_runs(&map, end, pagemap_next, last, ARRAY_SIZE(last));
	check_runs(&map, end, pagemap_next_kept, last, ARRAY_SIZE(last));
	ck_assert_int_eq(pagemap_next(&map, 0, end + 4096, &run), -EFBIG);
	ck_assert_int_eq(pagemap_next_kept(&map, 4096, end + 8192, &run),
			 -EFBIG);
	pagemap_close(&map);
}
END_TEST

/* Whose entry has the frame of a page of zeros is as if nothing were there. */
START_TEST(pages_that_are_zeros)
{
	const uint64_t words[] = { PRESENT | 7, PRESENT | 5, PRESENT | 7,
				   SWAPPED | 7, PRESENT | 6, PRESENT | 7 };
	const taddr_t end = ARRAY_SIZE(words) * 4096;
	const struct told_run there[] = { { 1, 2, false }, { 4, 5, false } };
	const struct told_run kept[] = { { 1, 2, false },
					 { 3, 4, true },
					 { 4, 5, false } };
	struct pagemap map = pagemap_of(words, sizeof(words), 7);

	check_runs(&map, end, pagemap_next, there, ARRAY_SIZE(there));
	check_runs(&map, end, pagemap_next_kept, kept, ARRAY_SIZE(kept));
	pagemap_close(&map);
}
END_TEST

/* Our own: pages that were written, then made read-only. */
START_TEST(pages_that_are_only_read)
{
	const size_t size = (size_t)16 * 4096;
	uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const taddr_t start = (uintptr_t)memory;
	struct mapping mapping = { .start = start,
				   .end = start + size,
				   .readable = true };
	const struct mappings mappings = { .list = &mapping,
					   .count = 1,
					   .pid = getpid() };
	struct page_sums sums;
	struct pages pages;

	ck_assert(memory != MAP_FAILED);
	memset(memory, 1, size);
	ck_assert_int_eq(mprotect(memory, size, PROT_READ), 0);
	ck_assert_int_eq(pages_read(&mappings, &pages), 0);
	sums = pages_count(&pages, start, start + size);
	ck_assert_uint_eq(sums.resident + sums.swapped, size);
	/* A size that nobody can have. */
	sums = pages_count(&pages, start + 4096, start + 4095);
	ck_assert_uint_eq(sums.resident + sums.swapped, size - 4096);
	pages_fini(&pages);
	munmap(memory, size);
}
END_TEST

/* Ruby's objects may lie in malloc's memory, those of the others don't. */
static void check_to_read(const char *program, uint64_t pages)
{
	struct mapping list[] = {
		{ .start = 0x1000,
		  .end = 0x2000,
		  .readable = true,
		  .kind = MAPPING_PROGRAM_CODE,
		  .inode = 7,
		  .path = (char *)program },
		{ .start = 0x10000, .end = 0x20000, .kind = MAPPING_HEAP },
		{ .start = 0x30000, .end = 0x40000, .kind = MAPPING_ANONYMOUS },
		{ .start = 0x50000,
		  .end = 0x60000,
		  .kind = MAPPING_SHARED,
		  .shared = true },
	};
	struct page_run runs[] = {
		{ .begin = 0x1000, .end = 0x2000 },
		{ .begin = 0x10000, .end = 0x13000 },
		{ .begin = 0x30000, .end = 0x31000 },
		{ .begin = 0x3e000, .end = 0x40000, .swapped = true },
		{ .begin = 0x50000, .end = 0x60000 },
	};
	const struct mappings mappings = { .list = list,
					   .count = ARRAY_SIZE(list) };
	const struct pages told = { .runs = runs, .count = ARRAY_SIZE(runs) };

	for (size_t i = 1; i < ARRAY_SIZE(list); i++) {
		list[i].readable = list[i].writable = true;
		list[i].path = (char *)"";
	}
	ck_assert_uint_eq(object_heaps_to_read(&mappings, &told), pages * 4096);
}

START_TEST(what_types_would_take)
{
	check_to_read("/usr/bin/python3.11", 3);
	check_to_read("/usr/lib/libruby-3.1.so.3.1", 6);
	check_to_read("/usr/bin/cat", 0);
}
END_TEST

/* ---- where .bss ends ---- */

#define MODULE     UINT64_C(0x7f0000000000)
#define MODULE_LOW 0x400000 /* as its file has it */
#define PIECES     1000

struct module_memory {
	struct memory memory;
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[3];
	} bytes;
	unsigned reads;
};

static size_t read_module(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct module_memory *module = (struct module_memory *)memory;

	module->reads++;
	if (address < MODULE || address - MODULE >= sizeof(module->bytes) ||
	    size > sizeof(module->bytes) - (address - MODULE))
		return 0;
	memcpy(ret, (const uint8_t *)&module->bytes + (address - MODULE), size);
	return size;
}

static const struct memory_ops module_ops = { .read = read_module };

static struct module_memory make_module(uint64_t data, uint64_t size)
{
	struct module_memory module = {
		.memory.ops = &module_ops,
		.bytes = {
			.head = {
				.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				.e_phoff = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 3,
			},
			.segments = {
				{ .p_type = PT_LOAD,
				  .p_vaddr = MODULE_LOW + 0x10,
				  .p_memsz = 0x1ff0 },
				{ .p_type = PT_LOAD,
				  .p_vaddr = MODULE_LOW + data,
				  .p_memsz = size },
				{ .p_type = PT_DYNAMIC,
				  .p_vaddr = MODULE_LOW + 0x100000,
				  .p_memsz = 0x1000 },
			},
		},
	};

	return module;
}

/* Of what lies right behind the data of a library. */
static enum mapping_kind kind_behind(struct module_memory *module)
{
	struct mapping list[] = {
		{ .start = MODULE, .end = MODULE + 0x2000, .executable = true },
		{ .start = MODULE + 0x2000,
		  .end = MODULE + 0x3000,
		  .offset = 0x1000,
		  .writable = true },
		{ .start = MODULE + 0x3000,
		  .end = MODULE + 0x203000,
		  .writable = true },
	};
	struct mappings mappings = { .list = list, .count = ARRAY_SIZE(list) };

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		list[i].readable = true;
		list[i].inode = i < 2 ? 7 : 0;
		list[i].path = (char *)(i < 2 ? "/usr/lib/phar.so" : "");
	}
	mappings_find_kinds(&mappings, &module->memory);
	ck_assert_int_eq(list[0].kind, MAPPING_LIBRARY_CODE);
	ck_assert_int_eq(list[1].kind, MAPPING_LIBRARY_DATA);
	return list[2].kind;
}

START_TEST(what_lies_behind_a_library)
{
	struct module_memory module = make_module(0x2c00, 0x3c0);

	ck_assert_int_eq(kind_behind(&module), MAPPING_ANONYMOUS);
	module = make_module(0x2c00, 0x400);
	ck_assert_int_eq(kind_behind(&module), MAPPING_ANONYMOUS);
	module = make_module(0x2c00, 0x401);
	ck_assert_int_eq(kind_behind(&module), MAPPING_LIBRARY_DATA);
}
END_TEST

/* Then it is taken for .bss, which it mostly is. */
START_TEST(headers_of_a_library_that_make_no_sense)
{
	struct module_memory module = make_module(0x2c00, UINT64_MAX);

	ck_assert_int_eq(kind_behind(&module), MAPPING_LIBRARY_DATA);
	module = make_module(0x2c00, 0x3c0);
	module.bytes.head.e_phnum = UINT16_MAX;
	ck_assert_int_eq(kind_behind(&module), MAPPING_LIBRARY_DATA);
	module = make_module(0x2c00, 0x3c0);
	module.bytes.head.e_phoff = UINT64_MAX - 8;
	ck_assert_int_eq(kind_behind(&module), MAPPING_LIBRARY_DATA);
	module.bytes.head.e_ident[0] = 0;
	ck_assert_int_eq(kind_behind(&module), MAPPING_LIBRARY_DATA);
}
END_TEST

/* Whoever maps a library's pieces again and again mustn't keep us busy with where
   it ends. */
START_TEST(library_of_very_many_pieces)
{
	const size_t count = 2 * PIECES + 1;
	struct mapping *list CLEANUP(xfree_cleanup) =
		xcalloc(count, sizeof(*list));
	struct mappings mappings = { .list = list, .count = count };
	struct module_memory module = make_module(0x2c00, PIECES * 0x1000);

	for (size_t i = 0; i < count; i++) {
		const bool file = i % 2 == 0;

		list[i].readable = true;
		list[i].writable = i > 0;
		list[i].executable = !i;
		list[i].start = MODULE + i * 0x1000;
		list[i].end = list[i].start + 0x1000;
		list[i].offset = i ? 0x1000 : 0;
		list[i].inode = file ? 7 : 0;
		list[i].path = (char *)(file ? "/usr/lib/phar.so" : "");
	}
	mappings_find_kinds(&mappings, &module.memory);
	ck_assert_uint_lt(module.reads, 10);
	for (size_t i = 2; i < count; i++)
		ck_assert_int_eq(list[i].kind, i % 2 == 0 || i < PIECES + 3 ?
						       MAPPING_LIBRARY_DATA :
						       MAPPING_ANONYMOUS);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		whole_heap,
		caches,
		caches_that_never_end,
		fastbins_that_never_end,
		chunk_without_size,
		chunk_beyond_everything,
		chunk_longer_than_its_arena,
		block_without_memory,
		heaps_that_never_end,
		heap_shorter_than_its_head,
		ring_that_goes_on,
		arenas_everywhere,
		lost_chain,
		lost_ring,
		pointer_into_the_middle,
		pointer_behind_a_wrappers_head,
		pointer_behind_what_is_no_head,
		pointers_with_tags,
		pointers_with_bits_that_are_no_tags,
		registers_with_tags,
		registers_that_say_what_variables_do,
		piece_that_nothing_leads_to,
		pointer_behind_the_end,
		pointer_behind_what_a_class_adds,
		pointer_behind_what_no_class_adds,
		pointer_into_what_is_no_object,
		pieces_that_share_a_unit,
		stack_of_a_thread_of_rubys,
		words_that_are_no_stack,
		stacks_that_overlap,
		stacks_that_others_take_in,
		stacks_that_are_made_up,
		tables_of_names_that_are_made_up,
		variables_that_have_no_end,
		kept_blocks_have_their_size,
		long_chains_are_cut,
		picture_across_runs,
		picture_by_kinds_of_pages,
		pages_that_are_swapped_out,
		pages_of_more_than_is_read,
		pages_that_are_zeros,
		pages_that_are_only_read,
		what_types_would_take,
		what_lies_behind_a_library,
		headers_of_a_library_that_make_no_sense,
		library_of_very_many_pieces,
	};

	return unit_run_tests("memory", setup, teardown, tests,
			      ARRAY_SIZE(tests));
}
