/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "memory/reach_private.h"

/*
 * Pointers into the middle of blocks that are how C++ holds them: behind a
 * length, at a base class. The size that was asked for isn't known, only that
 * the block is up to 15 bytes larger.
 */
#define SLACK 15

static bool read_words(struct reacher *reacher, taddr_t address,
		       uint64_t *words, size_t count)
{
	return !memory_read((struct memory *)&reacher->picture->memory, address,
			    words, count * sizeof(*words));
}

static bool may_be_size(const struct block *block, uint64_t size)
{
	const uint64_t usable = block_usable(block);

	return size <= usable && usable - size <= SLACK;
}

/* std::string before C++11: length, capacity, users, text. */
static bool is_old_string(const struct block *block, const uint64_t *words,
			  uint64_t offset)
{
	return offset == 24 && words[0] <= words[1] &&
	       words[1] < block_usable(block) &&
	       may_be_size(block, words[1] + 1 + 24);
}

/* A length of bytes, and then so many (sqlite3). */
static bool is_behind_length(const struct block *block, const uint64_t *words,
			     uint64_t offset)
{
	return offset == 8 && words[0] < block_usable(block) &&
	       may_be_size(block, words[0] + 8);
}

/*
 * Who wraps malloc() puts a head of his own before what he hands out, of a few
 * words, and the size is one of them: of what follows, or with the head, with
 * flags in its lowest bits (MariaDB's my_malloc(), InnoDB's allocator).
 */
#define HEAD_LEAST 16
#define HEAD_WORDS 8
#define HEAD_FLAGS 7
#define PAGE_SLACK 4095
#define FLAGS_FROM \
	256 /* of fewer bytes nearly any small number would be a size */

static bool is_size(uint64_t word, uint64_t most, uint64_t slack)
{
	const uint64_t size = word & ~(uint64_t)HEAD_FLAGS;

	return size && size <= most && most - size <= slack;
}

static bool is_behind_head(struct reacher *reacher, const struct block *block,
			   uint64_t offset)
{
	const uint64_t usable = block_usable(block);
	const uint64_t slack = SLACK + (usable < FLAGS_FROM ? 0 : HEAD_FLAGS) +
			       (block->mapped ? PAGE_SLACK : 0);
	const size_t count = offset / sizeof(uint64_t);
	uint64_t words[HEAD_WORDS];

	if (offset < HEAD_LEAST || offset > sizeof(words) || offset % 8 ||
	    offset >= usable ||
	    !read_words(reacher, block->address, words, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_size(words[i], usable - offset, slack) ||
		    is_size(words[i], usable, slack))
			return true;
	return false;
}

/* new T[n] of a class with a destructor: n elements of some size. */
static bool is_array(const struct block *block, const uint64_t *words,
		     uint64_t offset)
{
	const uint64_t most = block_usable(block) - 8, count = words[0];

	return offset == 8 && count && count <= most && most % count <= SLACK &&
	       most / count >= 1;
}

/* Aligned by hand: where the block begins is kept beside what is aligned. */
static bool keeps_beginning(struct reacher *reacher, const struct block *block,
			    uint64_t pointer)
{
	uint64_t words[3];

	if (pointer % 16 || pointer - block->address < sizeof(words[0]) ||
	    !read_words(reacher, pointer - sizeof(words[0]), words,
			ARRAY_SIZE(words)))
		return false;
	return words[0] == block->address || words[1] == block->address ||
	       words[2] == block->address;
}

/* A virtual table says how far it is from the beginning of the object. */
static bool is_base(struct reacher *reacher, const struct block *block,
		    const uint64_t *words, uint64_t pointer)
{
	const struct mapping *mapping;
	uint64_t table, head[2];

	if (pointer % 8 || !read_words(reacher, pointer, &table, 1) ||
	    !mappings_find(reacher->mappings, words[0]))
		return false;
	mapping = mappings_find(reacher->mappings, table);
	if (!mapping || !mapping->inode || mapping->executable ||
	    !read_words(reacher, table - 16, head, 2))
		return false;
	return head[0] == block->address - pointer;
}

/* Of a program or library, with the .bss of that. */
static bool is_modules(const struct reacher *reacher, uint64_t address)
{
	const struct mapping *mapping =
		mappings_find(reacher->mappings, address);

	return mapping && !mapping->executable &&
	       (mapping->inode || mapping->kind <= MAPPING_LIBRARY_DATA);
}

/* Of PHP's the object itself knows how far in its memory it lies, by the table of
   what it can do (zend_object, Zend/zend_types.h). */
#define PHP_BEHIND_MOST 320
#define PHP_TABLE       24

static bool is_behind_class_own(struct reacher *reacher, uint64_t pointer,
				uint64_t offset)
{
	uint64_t table;
	uint32_t behind;

	return offset < PHP_BEHIND_MOST && offset % 8 == 0 &&
	       read_words(reacher, pointer + PHP_TABLE, &table, 1) &&
	       is_modules(reacher, table) &&
	       !memory_read((struct memory *)&reacher->picture->memory, table,
			    &behind, sizeof(behind)) &&
	       behind == offset;
}

/* What an interpreter has in front of an object isn't the object; and of its
   attributes' values that is their order, of an array's elements their numbers,
   or those that have gone. */
static bool is_object(struct reacher *reacher, const struct block *block,
		      uint64_t pointer)
{
	const uint64_t offset = pointer - block->address;

	if (block->object)
		return offset == 16 || offset == 32 ||
		       is_behind_class_own(reacher, pointer, offset);
	switch (block->part) {
	case BLOCK_VALUES:
		return offset <= 64;
	case BLOCK_ARRAY:
	case BLOCK_ELEMENTS:
		return offset % 8 == 0;
	default:
		return false;
	}
}

bool reach_is_usual(struct reacher *reacher, const struct block *block,
		    uint64_t pointer)
{
	const uint64_t offset = pointer - block->address;
	uint64_t words[2];

	if (is_object(reacher, block, pointer))
		return true;
	if (block_usable(block) < 24 ||
	    !read_words(reacher, block->address, words, 2))
		return false;
	return is_old_string(block, words, offset) ||
	       is_behind_length(block, words, offset) ||
	       is_behind_head(reacher, block, offset) ||
	       is_array(block, words, offset) ||
	       is_base(reacher, block, words, pointer) ||
	       keeps_beginning(reacher, block, pointer);
}

bool reach_holds(struct reacher *reacher, const struct block *block,
		 uint64_t pointer)
{
	return block->mark == REACH_REACHED &&
	       (pointer == block->address ||
		reach_is_usual(reacher, block, pointer));
}

uint32_t reach_index(const struct reacher *reacher, const struct block *block)
{
	return (uint32_t)(block - reacher->glibc->blocks.list);
}
