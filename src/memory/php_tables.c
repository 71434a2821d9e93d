/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/php_tables.h"

#include <string.h>

#include "memory/php_heap.h"

/* struct _zend_array, Zend/zend_types.h: a mask, then the pointer. The mask is a
   power of two, less than nothing: there are so many numbers of 4 bytes. */
#define NUMBERS_LEAST 2
#define NUMBERS_MOST  (1u << 28)

uint32_t php_table_numbers(uint32_t mask)
{
	const uint32_t numbers = -mask;

	return numbers & (numbers - 1) || numbers < NUMBERS_LEAST ||
			       numbers > NUMBERS_MOST ?
		       0 :
		       numbers;
}

static void look_at(const struct blocks *blocks, const uint8_t *pointer)
{
	struct block *block;
	uint32_t mask, numbers;
	taddr_t data;

	memcpy(&mask, pointer - sizeof(mask), sizeof(mask));
	numbers = php_table_numbers(mask);
	if (!numbers)
		return;
	memcpy(&data, pointer, sizeof(data));
	block = blocks_at(blocks, data - numbers * sizeof(numbers));
	if (block && block_is_used(block) && !block->object && !block->part &&
	    block_has(block, data))
		block->part = BLOCK_ELEMENTS;
}

void php_tables_mark(const struct picture *picture,
		     const struct mappings *mappings, struct glibc *glibc)
{
	struct picture_part part;
	taddr_t at = 0;
	size_t hint = 0;

	if (!php_is_there(mappings))
		return;
	while (picture_next(picture, &hint, at, UINT64_MAX, &part)) {
		const size_t size = part.end - part.start;

		for (size_t i = 8; i + 8 <= size; i += 8)
			look_at(&glibc->blocks, part.bytes + i);
		at = part.end;
	}
}
