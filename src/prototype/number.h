/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NUMBER_H
#define CALLTRAP_NUMBER_H

#include "prototype/place.h"
#include "prototype/type.h"

/* Integers and pointers of at most 64 bits, as the program holds them. */

/* Cuts a word down to the type's size, and extends it again by its sign. */
uint64_t number_narrow(const struct type *type, uint64_t word,
		       unsigned word_size);

/* The same, but extended as if the type had no sign: -1 is 0xffffffff. */
uint64_t number_unsigned(const struct type *type, uint64_t word,
			 unsigned word_size);

/* Of a kind unknown: a number rather than an address or bits. */
bool number_is_small(uint64_t word);

/* The value at a place, narrowed; -ENODATA when it is no such number. */
int number_read(struct place place, const struct type *type, unsigned word_size,
		uint64_t *ret) MUST_CHECK;

/* That of a member whose struct lies there, at the offset that it has. */
int number_read_member(struct place place, const struct type_member *member,
		       unsigned word_size, uint64_t *ret) MUST_CHECK;

/*
 * How many something is: an integer that is not negative, or the one behind a
 * pointer. -ENODATA when it isn't.
 */
int number_read_count(struct place place, const struct type *type,
		      unsigned word_size, struct memory *memory,
		      uint64_t *ret) MUST_CHECK;

#endif
