/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/page_memory.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* Pages from BASE on, of which the last one ends early. */
#define BASE 0x7000u
#define SIZE (20 * MEMORY_PAGE + 100)

struct buffer {
	struct memory memory;
	unsigned reads;
	uint8_t bytes[SIZE];
};

static size_t buffer_read(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct buffer *buffer = (struct buffer *)memory;

	buffer->reads++;
	if (address < BASE || address >= BASE + SIZE)
		return 0;
	if (size > BASE + SIZE - address)
		size = BASE + SIZE - address;
	memcpy(ret, buffer->bytes + (address - BASE), size);
	return size;
}

static const struct memory_ops buffer_ops = { .read = buffer_read };
static struct buffer buffer = { .memory = { &buffer_ops } };
static struct page_memory pages;

static void setup(void)
{
	srand(1);
	for (size_t i = 0; i < SIZE; i++)
		buffer.bytes[i] = rand();
	buffer.reads = 0;
	page_memory_init(&pages, &buffer.memory);
}

/* Whatever is read, and in whatever order, it's as without. */
START_TEST(reads_the_same)
{
	static uint8_t found[3 * MEMORY_PAGE], wanted[3 * MEMORY_PAGE];

	for (int i = 0; i < 20000; i++) {
		taddr_t address = BASE - 200 + rand() % (SIZE + 400);
		size_t size = rand() % (i % 8 ? 64 : sizeof(found));
		size_t n =
			memory_read_some(&pages.memory, address, found, size);

		ck_assert_uint_eq(n, buffer_read(&buffer.memory, address,
						 wanted, size));
		ck_assert_mem_eq(found, wanted, n);
	}
}
END_TEST

START_TEST(reads_a_page_once)
{
	uint64_t word;

	for (unsigned i = 0; i < 1000; i++)
		ck_assert_int_eq(memory_read(&pages.memory,
					     BASE + i % 10 * MEMORY_PAGE + i,
					     &word, sizeof(word)),
				 0);
	ck_assert_uint_eq(buffer.reads, 10);
}
END_TEST

START_TEST(the_end_of_all_addresses)
{
	uint8_t bytes[64];

	ck_assert_uint_eq(memory_read_some(&pages.memory, UINT64_MAX - 3, bytes,
					   sizeof(bytes)),
			  0);
	ck_assert_uint_eq(memory_read_some(&pages.memory, 0, bytes,
					   sizeof(bytes)),
			  0);
	ck_assert_int_lt(memory_write(&pages.memory, BASE, bytes, 1), 0);
}
END_TEST

static Suite *page_memory_suite(void)
{
	Suite *suite = suite_create("page_memory");
	TCase *tests = tcase_create("page_memory");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, reads_the_same);
	tcase_add_test(tests, reads_a_page_once);
	tcase_add_test(tests, the_end_of_all_addresses);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(page_memory_suite());
}
