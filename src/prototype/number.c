/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/number.h"

#include <errno.h>

#include "prototype/layout.h"

static uint64_t cut(uint64_t word, unsigned bits, bool is_signed)
{
	unsigned unused = 64 - bits;

	if (!bits || bits >= 64)
		return word;
	if (is_signed)
		return (int64_t)(word << unused) >> unused;
	return word << unused >> unused;
}

uint64_t number_narrow(const struct type *type, uint64_t word,
		       unsigned word_size)
{
	return cut(word, 8 * layout_of(type, word_size).size,
		   type->kind == TYPE_INTEGER && type->is_signed);
}

uint64_t number_unsigned(const struct type *type, uint64_t word,
			 unsigned word_size)
{
	return cut(word, 8 * layout_of(type, word_size).size, false);
}

int number_read(struct place place, const struct type *type, unsigned word_size,
		uint64_t *ret)
{
	uint64_t size = layout_of(type, word_size).size;
	uint64_t word = 0;
	int err;

	if ((type->kind != TYPE_INTEGER && type->kind != TYPE_POINTER) ||
	    !size || size > sizeof(word))
		return -ENODATA;
	err = memory_read(place.memory, place.address, &word, size);
	if (err)
		return err;
	*ret = number_narrow(type, word, word_size);
	return 0;
}

int number_read_member(struct place place, const struct type_member *member,
		       unsigned word_size, uint64_t *ret)
{
	uint64_t word;
	int err = number_read(place, member->type, word_size, &word);

	if (err || !member->bit_size) {
		*ret = err ? *ret : word;
		return err;
	}
	if (member->bit_offset >= 64)
		return -ENODATA;
	*ret = cut(word >> member->bit_offset, member->bit_size,
		   member->type->is_signed);
	return 0;
}

bool number_is_small(uint64_t word)
{
	return (int64_t)word >= -10000 && (int64_t)word <= 10000;
}

int number_read_count(struct place place, const struct type *type,
		      unsigned word_size, struct memory *memory, uint64_t *ret)
{
	uint64_t word;
	int err = number_read(place, type, word_size, &word);

	if (!err && type->kind == TYPE_POINTER) {
		type = type->target;
		err = type->kind == TYPE_INTEGER ?
			      number_read(place_in(memory, word), type,
					  word_size, &word) :
			      -ENODATA;
	}
	if (err)
		return err;
	if (type->is_signed && (int64_t)word < 0)
		return -ENODATA;
	*ret = word;
	return 0;
}
