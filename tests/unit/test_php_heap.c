/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/finder.h"
#include "memory/object_blocks.h"
#include "memory/php_links.h"
#include "memory/php_objects.h"
#include "unit.h"

/* What is made of PHP's memory, also of one that is damaged. It is ours, so that
   the kernel says what is there of it. */

#define CHUNK     ((size_t)2 << 20)
#define CHUNKS    4
#define PAGE      4096
#define HEAP      64
#define LISTS     (HEAP + 32)
#define HUGE      (LISTS + 8 * 30)
#define FIRST     (HUGE + 8)
#define MAP       (FIRST + 64)
#define SMALL     0x80000000u
#define LARGE     0x40000000u
#define BIN       2 /* pieces of 24 bytes, on the second page */
#define PIECE     24
#define PIECES    (PAGE / PIECE)
#define IN_PIECES ((uint64_t)PIECES * PIECE)

static struct memory memory;
static unsigned reads;
static uint8_t *area; /* chunks, in a mapping of their own */
static char no_path[] = "";
static struct mapping mapping;
static struct mappings mappings;
static struct object_heap heap;

static size_t read_area(struct memory *memory_ UNUSED, taddr_t address,
			void *ret, size_t size)
{
	const uint64_t at = address - (uintptr_t)area;

	reads++;
	if (at >= CHUNKS * CHUNK || size > CHUNKS * CHUNK - at)
		return 0;
	memcpy(ret, area + at, size);
	return size;
}

static const struct memory_ops area_ops = { .read = read_area };

static taddr_t at(size_t offset)
{
	return (uintptr_t)area + offset;
}

static void put(size_t offset, uint64_t word)
{
	memcpy(area + offset, &word, sizeof(word));
}

static void put_chunk(size_t chunk, size_t next)
{
	const uint32_t map[] = { LARGE | 1, SMALL | BIN };

	put(chunk, at(HEAP));
	put(chunk + 8, at(next));
	memcpy(area + chunk + MAP, map, sizeof(map));
}

static size_t piece(size_t i)
{
	return PAGE + i * PIECE;
}

/* Of the list of what is larger than a chunk. */
static void put_entry(size_t i, taddr_t block, uint64_t bytes, taddr_t next)
{
	put(piece(i), block);
	put(piece(i) + 8, bytes);
	put(piece(i) + 16, next);
}

static void setup(void)
{
	uint8_t *all = mmap(NULL, (CHUNKS + 1) * CHUNK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(all, MAP_FAILED);
	area = all + (-(uintptr_t)all & (CHUNK - 1));
	/* Only pages that a test writes are there. */
	madvise(area, CHUNKS * CHUNK, MADV_NOHUGEPAGE);
	mapping = (struct mapping){
		.start = at(0),
		.end = at(CHUNKS * CHUNK),
		.readable = true,
		.writable = true,
		.path = no_path,
	};
	mappings = (struct mappings){ .list = &mapping,
				      .count = 1,
				      .pid = getpid() };
	memory = (struct memory){ .ops = &area_ops };
	put_chunk(0, 0);
	put(FIRST, at(0));
	put(HUGE, at(piece(0)));
}

static void look(void)
{
	struct object_heap heaps[OBJECT_LANGUAGES] = { 0 };

	reads = 0;
	heap = (struct object_heap){ .pools = 0 };
	php_heap_read(&memory, &mappings, NULL, &heap);
	heaps[OBJECTS_OF_PHP] = heap;
	object_heaps_fini(heaps);
}

static void check_huge(uint64_t bytes, uint64_t broken)
{
	look();
	ck_assert_uint_eq(heap.others.bytes, IN_PIECES + bytes);
	ck_assert_uint_eq(heap.broken.count, broken);
}

START_TEST(huge_blocks)
{
	put_entry(0, at(CHUNK), CHUNK + PAGE, at(piece(1)));
	put_entry(1, at(3 * CHUNK), PAGE, 0);
	check_huge(CHUNK + 2 * PAGE, 0);
}
END_TEST

START_TEST(huge_blocks_that_are_none)
{
	const struct {
		taddr_t block;
		uint64_t bytes;
	} wrong[] = {
		{ 0, PAGE },
		{ at(CHUNK + PAGE), PAGE },
		{ at(0), PAGE },
		{ at(CHUNK), 0 },
		{ at(CHUNK), PAGE + 1 },
		{ at(CHUNK), 3 * CHUNK + PAGE },
		{ at(CHUNK), -(uint64_t)PAGE },
		{ at(16 * CHUNK), PAGE },
	};

	put_entry(1, at(3 * CHUNK), PAGE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		put_entry(0, wrong[i].block, wrong[i].bytes, at(piece(1)));
		check_huge(PAGE, 1);
	}
}
END_TEST

START_TEST(huge_blocks_that_never_end)
{
	put_entry(0, at(CHUNK), PAGE, at(piece(1)));
	put_entry(1, at(2 * CHUNK), PAGE, at(piece(0)));
	check_huge(2 * PAGE, 1);
	put_entry(1, at(2 * CHUNK), PAGE, at(CHUNKS * CHUNK));
	check_huge(2 * PAGE, 1);
}
END_TEST

START_TEST(huge_blocks_beyond_everything)
{
	for (size_t i = 0; i < 3; i++)
		put_entry(i, at(CHUNK), 2 * CHUNK, at(piece(i + 1)));
	check_huge(4 * CHUNK, 1);
}
END_TEST

/* Of so many pieces of both chunks in turn. */
static void put_free(size_t count)
{
	size_t where = LISTS + 8 * BIN;

	for (size_t i = 0; i < count; i++) {
		const size_t next = i % 2 * CHUNK + piece(i / 2);

		put(where, at(next));
		where = next;
	}
	put(where, 0);
}

static void check_free(uint64_t count, uint64_t broken)
{
	look();
	ck_assert_uint_eq(heap.free.count, count);
	ck_assert_uint_eq(heap.free.bytes, count * PIECE);
	ck_assert_uint_eq(heap.others.count, 2 * PIECES - count);
	ck_assert_uint_eq(heap.broken.count, broken);
}

/* The process may have to wait, so no word is read by itself. */
START_TEST(free_pieces)
{
	unsigned before;

	put(HUGE, 0);
	put_chunk(0, CHUNK);
	put_chunk(CHUNK, 0);
	put_free(2);
	check_free(2, 0);
	before = reads;
	put_free(2 * PIECES);
	check_free(2 * PIECES, 0);
	ck_assert_uint_eq(reads, before);
	put_free(3);
	put(piece(1), at(piece(0)));
	check_free(3, 1);
	put(piece(1), at(CHUNK + PAGE + 4));
	check_free(3, 1);
	put(piece(1), at(2 * CHUNK));
	check_free(3, 1);
}
END_TEST

START_TEST(pages_that_nobody_tells_of)
{
	put(HUGE, 0);
	look();
	ck_assert_uint_eq(heap.pools, 1);
	ck_assert_uint_eq(heap.unread.count, 0);
	mappings.pid = 0; /* nobody's */
	look();
	ck_assert_uint_eq(heap.pools, 0);
	ck_assert_uint_eq(heap.unread.count, 1);
	ck_assert_uint_eq(heap.unread.bytes, CHUNKS * CHUNK);
}
END_TEST

/* As its own stack does, where mappings have such addresses. */
START_TEST(pieces_that_begin_with_a_pointer)
{
	const uint64_t string = (uint64_t)0x16 << 32 | 1;
	const struct {
		uint64_t head;
		bool text;
	} begins[] = {
		{ string, true },
		{ string | (uint64_t)0x3f0 << 32, true },
		{ 0x7fc600c15010, false },
		{ 0x550600c15010, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		const struct php_piece piece = {
			.address = at(CHUNK),
			.bytes = PAGE,
			.begin = area + CHUNK,
			.seen = PAGE,
		};
		struct php_objects objects;
		const char *name;

		put(CHUNK, begins[i].head);
		put(CHUNK + 8, at(CHUNK));
		put(CHUNK + 16, 0);
		put(CHUNK + 24, 0);
		php_objects_init(&objects, &memory);
		name = php_objects_count(&objects, &piece);
		ck_assert_uint_eq(name && !strcmp(name, "string"),
				  begins[i].text);
		php_objects_fini(&objects);
	}
}
END_TEST

/* What has a pointer in front, and counts behind, is an array only with a mask. */
START_TEST(pieces_that_have_counts)
{
	const struct {
		uint32_t mask;
		bool array;
	} tables[] = {
		{ -2u, true },         { -16u, true }, { 0, false },
		{ 0x00007fc6, false }, { 16, false },  { -24u, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct php_piece piece = {
			.address = at(CHUNK),
			.bytes = 56,
			.begin = area + CHUNK,
			.seen = 56,
		};
		struct php_objects objects;
		const char *name;

		put(CHUNK, 0x7fc700c15010);
		put(CHUNK + 8, (uint64_t)tables[i].mask << 32);
		put(CHUNK + 16, at(CHUNK));
		put(CHUNK + 24, 0);
		put(CHUNK + 32, 8);
		php_objects_init(&objects, &memory);
		name = php_objects_count(&objects, &piece);
		ck_assert_uint_eq(name && !strcmp(name, "array"),
				  tables[i].array);
		ck_assert_uint_eq(php_objects_apart(&piece) != 0,
				  tables[i].array);
		php_objects_fini(&objects);
	}
}
END_TEST

/* ---- blocks of these ---- */

static struct glibc all;

static void make_blocks(void)
{
	static char php[] = "/usr/bin/php8.2";
	struct mapping both[2] = { { .path = php }, mapping };
	struct mappings with_file = mappings;

	with_file.list = both;
	with_file.count = 2;
	all = (struct glibc){ .musl = false };
	blocks_init(&all.blocks);
	ck_assert(object_blocks_add(&memory, &with_file, &all));
}

static void free_blocks(void)
{
	free(all.parts);
	blocks_fini(&all.blocks);
}

/* By address, apart, and each of its part. */
static void check_blocks(size_t parts, size_t blocks)
{
	size_t b = 0;

	ck_assert_uint_eq(all.part_count, parts);
	ck_assert_uint_eq(all.blocks.count, blocks);
	for (size_t i = 0; i < parts; i++) {
		const struct glibc_part *part = &all.parts[i];

		ck_assert(!i || part[-1].end <= part->start);
		ck_assert_uint_eq(part->first, b);
		for (; b < part->first + part->count; b++) {
			const struct block *block = &all.blocks.list[b];

			ck_assert_uint_ge(block->address, part->start);
			ck_assert_uint_le(block->address + block_usable(block),
					  part->end);
			ck_assert(b == part->first ||
				  block[-1].address +
						  block_usable(&block[-1]) <=
					  block->address);
		}
	}
}

/* One that lies in another one is none. */
START_TEST(pieces_are_blocks)
{
	put_entry(0, at(CHUNK), 2 * CHUNK, at(piece(1)));
	put_entry(1, at(2 * CHUNK), PAGE, at(piece(2)));
	put_entry(2, at(3 * CHUNK), PAGE, 0);
	make_blocks();
	check_blocks(2, PIECES + 2);
	free_blocks();
}
END_TEST

/* An index of 16 bytes a bit doesn't tell these apart. */
START_TEST(pieces_of_8_bytes)
{
	const uint32_t map[] = { LARGE | 1, SMALL | 0 };
	struct finder finder;

	memcpy(area + MAP, map, sizeof(map));
	put(HUGE, 0);
	make_blocks();
	check_blocks(1, PAGE / 8);
	finder_init(&finder, &all);
	for (size_t i = 0; i < PAGE / 8; i++)
		ck_assert_ptr_eq(finder_look(&finder, at(PAGE + i * 8)),
				 &all.blocks.list[i]);
	finder_fini(&finder);
	free_blocks();
}
END_TEST

static void put_bin(size_t chunk, size_t page, uint32_t bin)
{
	const uint32_t info = SMALL | bin;

	memcpy(area + chunk + MAP + page * sizeof(info), &info, sizeof(info));
}

static void add_run(void *context, taddr_t begin, taddr_t end)
{
	*(uint64_t *)context += end - begin;
}

static uint64_t there(void)
{
	struct object_sum unread = { 0 };
	uint64_t bytes = 0;

	object_heap_scan(&mappings, false, add_run, &bytes, &unread);
	ck_assert_uint_eq(unread.count, 0);
	return bytes;
}

/* From a page of each chunk there would be 511 times as many pieces. */
START_TEST(runs_that_are_not_there)
{
	for (size_t i = 0; i < CHUNKS; i++) {
		put_chunk(i * CHUNK, (i + 1) % CHUNKS * CHUNK);
		for (size_t page = 1; page < CHUNK / PAGE; page++)
			put_bin(i * CHUNK, page, 1);
	}
	put(HUGE, 0);
	look();
	ck_assert_uint_eq(heap.pools, CHUNKS);
	ck_assert_uint_gt(heap.others.bytes, 0);
	ck_assert_uint_le(heap.others.bytes, there());
	ck_assert_uint_eq(heap.others.bytes + heap.broken.bytes,
			  CHUNKS * (CHUNK - PAGE));
	memset(area + PAGE, 1, CHUNK - PAGE);
	look();
	ck_assert_uint_ge(heap.others.bytes, CHUNK - PAGE);
	ck_assert_uint_le(heap.others.bytes, there());
}
END_TEST

/* ---- what leads to them ---- */

#define VAST  ((uint64_t)16 << 40)
#define BEGIN 0x100000000000

static uint8_t page_of_data[PAGE], page_of_stack[PAGE];
static struct picture picture;

/* Among variables of the program's, of which only the last page is there. */
static void look_for_stack(size_t offset, struct php_links *ret)
{
	static struct mapping data = {
		.start = BEGIN,
		.end = BEGIN + VAST,
		.kind = MAPPING_PROGRAM_DATA,
	};
	const struct mappings list = { .list = &data, .count = 1 };
	const taddr_t stack = BEGIN + 2 * VAST;
	const uint64_t use[] = { stack + 64, stack + (256 << 10), stack };

	memset(page_of_data, 0, sizeof(page_of_data));
	memcpy(page_of_data + offset, use, sizeof(use));
	memcpy(page_of_stack + 8, &use[1], sizeof(use[1]));
	picture_init(&picture);
	picture_add(&picture, BEGIN + VAST - PAGE, BEGIN + VAST, page_of_data);
	picture_add(&picture, stack, stack + PAGE, page_of_stack);
	php_links_init(ret, &picture, &list, &all);
	picture_fini(&picture);
	ck_assert_uint_eq(ret->stack, stack);
	ck_assert_uint_eq(ret->top, stack + 64);
}

START_TEST(stack_in_a_vast_mapping)
{
	struct php_links links;

	all = (struct glibc){ .musl = false };
	look_for_stack(0, &links);
	look_for_stack(PAGE - 24, &links);
}
END_TEST

static const struct block *block_around(taddr_t address)
{
	return blocks_around(&all.blocks, address);
}

/* What the collector has for itself is malloc's. */
START_TEST(elements_as_large_as_a_buffer)
{
	const uint64_t bytes = 128 << 10;
	struct php_links links = { .memory = &memory,
				   .mappings = &mappings,
				   .glibc = &all };

	put_entry(0, at(CHUNK), bytes, 0);
	make_blocks();
	ck_assert_uint_eq(block_usable(block_around(at(CHUNK))), bytes);
	ck_assert(!php_links_pass_over(&links, at(piece(1)), at(CHUNK + 64)));
	for (size_t i = 0; i < all.part_count; i++)
		all.parts[i].objects = false;
	ck_assert(php_links_pass_over(&links, at(piece(1)), at(CHUNK + 64)));
	free_blocks();
}
END_TEST

/* Of an object with an array in front of it, where mappings have such addresses. */
START_TEST(objects_that_begin_like_a_text)
{
	const uint64_t begins[] = { 0x7fc686415000, 7, UINT32_MAX };
	struct php_links links = { .memory = &memory,
				   .mappings = &mappings,
				   .glibc = &all };

	put_entry(0, at(CHUNK), PAGE, 0);
	put(CHUNK, (uint64_t)6 << 32 | 1);
	put(CHUNK + 16, 5);
	make_blocks();
	blocks_around(&all.blocks, at(CHUNK))->object = true;
	ck_assert(php_links_pass_over(&links, at(piece(1)), at(CHUNK + 64)));
	memcpy(area + CHUNK, begins, sizeof(begins));
	ck_assert(!php_links_pass_over(&links, at(piece(1)), at(CHUNK + 64)));
	free_blocks();
}
END_TEST

/* The list has all that is larger than a chunk, whoever holds it. */
START_TEST(entries_of_huge_blocks)
{
	struct php_links links = { .memory = &memory,
				   .mappings = &mappings,
				   .glibc = &all };

	put_entry(0, at(CHUNK), PAGE, at(piece(1)));
	make_blocks();
	ck_assert(php_links_pass_over(&links, at(CHUNK), at(piece(0))));
	put(piece(0) + 8, 2 * PAGE);
	ck_assert(!php_links_pass_over(&links, at(CHUNK), at(piece(0))));
	put(piece(0), at(piece(2)));
	ck_assert(!php_links_pass_over(&links, at(piece(2)), at(piece(0))));
	free_blocks();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		huge_blocks,
		huge_blocks_that_are_none,
		huge_blocks_that_never_end,
		huge_blocks_beyond_everything,
		free_pieces,
		pages_that_nobody_tells_of,
		pieces_that_begin_with_a_pointer,
		pieces_that_have_counts,
		pieces_are_blocks,
		pieces_of_8_bytes,
		runs_that_are_not_there,
		stack_in_a_vast_mapping,
		elements_as_large_as_a_buffer,
		objects_that_begin_like_a_text,
		entries_of_huge_blocks,
	};

	return unit_run_tests("php_heap", setup, NULL, tests,
			      ARRAY_SIZE(tests));
}
