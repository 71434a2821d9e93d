/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/xalloc.h"
#include "script/node.h"

/* Ten times what the largest functions have. */
#define PYTHON_TABLE_MAX (1u << 20)

#define BYTES_PER_STEP 64

/*
 * CPython 3.11, Objects/locations.md: entries that begin with a byte above
 * 127, which holds a code and the number of code units that the entry is for.
 * Of what follows, only the difference of lines is of interest.
 */
enum python_code {
	PYTHON_ONE_LINE = 10, /* … to 12: as many lines more */
	PYTHON_NO_COLUMNS = 13,
	PYTHON_LONG = 14,
	PYTHON_NONE = 15,
};

/* Six bits a byte, the lowest first; the seventh says that it goes on. */
static int64_t read_signed(const uint8_t *at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned shift = 0; at < end && shift < 60; shift += 6) {
		value |= (uint64_t)(*at & 0x3f) << shift;
		if (!(*at++ & 0x40))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t line_difference(enum python_code code, const uint8_t *at,
			       const uint8_t *end)
{
	switch (code) {
	case PYTHON_LONG:
	case PYTHON_NO_COLUMNS:
		return read_signed(at, end);
	case PYTHON_NONE:
		return 0;
	default:
		return code >= PYTHON_ONE_LINE ? code - PYTHON_ONE_LINE : 0;
	}
}

/* The line of a code unit; 0 when it has none. */
static int python_search(const uint8_t *table, uint64_t size, uint64_t unit,
			 uint64_t first, uint64_t *ret)
{
	const uint8_t *at = table, *end = table + size;
	uint64_t line = first, behind = 0;

	while (at < end) {
		uint8_t head = *at++;
		enum python_code code = head >> 3 & 15;

		if (head < 0x80)
			return -EINVAL;
		line += line_difference(code, at, end);
		behind += (head & 7) + 1;
		if (unit < behind) {
			*ret = code == PYTHON_NONE ? 0 : line;
			return 0;
		}
		while (at < end && *at < 0x80)
			at++;
	}
	return -ENOENT;
}

static int pay(unsigned *steps, uint64_t bytes)
{
	if (*steps < bytes / BYTES_PER_STEP)
		return -ELOOP;
	*steps -= bytes / BYTES_PER_STEP;
	return 0;
}

/* The table's address and size, the offset of the instruction, first line. */
static int python_line(struct memory *memory, const uint64_t *operands,
		       unsigned *steps, uint64_t *ret)
{
	const uint64_t size = operands[1], offset = operands[2];
	uint8_t *table;
	int err;

	if (offset > INT_MAX) {
		*ret = operands[3]; /* before the first instruction */
		return 0;
	}
	if (size > PYTHON_TABLE_MAX)
		return -EINVAL;
	err = pay(steps, size);
	if (err)
		return err;
	table = xmalloc(size + 1);
	err = memory_read(memory, operands[0], table, size);
	if (!err)
		err = python_search(table, size, offset / 2, operands[3], ret);
	free(table);
	return err;
}

/*
 * Ruby 3.1, struct succ_index_table of iseq.c: how many entries begin at or
 * before a position. The first 54 counts are there as they are, nine of seven
 * bits in a word. Blocks follow, each for 512 positions:
 *
 *	u32 count before the block, u32 (unused)
 *	u64 counts of nine bits, before the second to the eighth word
 *	u64 bits[8], set where an entry begins
 */
#define RUBY_PLAIN       54
#define RUBY_PLAIN_BYTES 48
#define RUBY_BLOCK       512

struct ruby_block {
	uint32_t before;
	uint32_t unused;
	uint64_t in_block;
	uint64_t bits[RUBY_BLOCK / 64];
};

static uint64_t rank_in(const struct ruby_block *block, unsigned bit)
{
	const unsigned word = bit / 64;
	uint64_t upto = block->bits[word] << (63 - bit % 64);
	uint64_t before = 0;

	if (word)
		before = block->in_block >> 9 * (word - 1) & 0x1ff;
	return block->before + before + __builtin_popcountll(upto);
}

/* The table's address, and a position. */
static int ruby_rank(struct memory *memory, const uint64_t *operands,
		     unsigned *steps UNUSED, uint64_t *ret)
{
	uint64_t table = operands[0], position = operands[1], word;
	struct ruby_block block;

	if (position > INT_MAX)
		return -EINVAL;
	if (position < RUBY_PLAIN) {
		if (memory_read(memory, table + position / 9 * 8, &word, 8))
			return -EFAULT;
		*ret = word >> position % 9 * 7 & 0x7f;
		return 0;
	}
	position -= RUBY_PLAIN;
	table += RUBY_PLAIN_BYTES + position / RUBY_BLOCK * sizeof(block);
	if (memory_read(memory, table, &block, sizeof(block)))
		return -EFAULT;
	*ret = rank_in(&block, position % RUBY_BLOCK);
	return 0;
}

static const struct script_decoder decoders[] = {
	{ "python311_line", 4, python_line },
	{ "ruby31_rank", 2, ruby_rank },
};

size_t script_decoder_named(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(decoders); i++)
		if (strlen(decoders[i].name) == length &&
		    !memcmp(decoders[i].name, name, length))
			return i;
	return SCRIPT_NONE;
}

const struct script_decoder *script_decoder(size_t number)
{
	return &decoders[number];
}
