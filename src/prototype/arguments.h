/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ARGUMENTS_H
#define CALLTRAP_ARGUMENTS_H

#include "prototype/place.h"
#include "prototype/signature.h"

/* What is shown of a function that nobody has described: so many longs. */
#define UNKNOWN_ARGUMENTS 4

/* A value, as the calling convention has found it. */
struct found_value {
	int err;
	struct passed passed;
	struct bytes_memory bytes;
};

/* The arguments of one call, found when they are first asked for. */
struct arguments {
	const struct prototype *prototype; /* or NULL */
	const struct call_values *values;
	struct argument_cursor cursor;
	unsigned known; /* of those that the prototype has */
	struct found_value list[PARAMETERS_MAX];
};

void arguments_init(struct arguments *arguments,
		    const struct prototype *prototype,
		    const struct call_values *values);

/* The same, where only the result will be asked for. */
void arguments_init_result(struct arguments *arguments,
			   const struct prototype *prototype,
			   const struct call_values *values);

/*
 * How many bytes of the stack those of the prototype take, from the place
 * behind the return address on: the callee may use them as it likes.
 */
size_t arguments_stacked(struct arguments *arguments);

/* Whether there can be any. */
bool arguments_may_be_stacked(const struct prototype *prototype,
			      const struct arch_ops *arch);

/* How many the prototype has. */
unsigned arguments_count(const struct arguments *arguments);
const struct type *arguments_type(const struct arguments *arguments,
				  unsigned index);

/* Where the index-th (from 0) lies; good as long as arguments is. */
int arguments_place(struct arguments *arguments, unsigned index,
		    struct place *ret) MUST_CHECK;

/*
 * The next one of those for which the prototype has "...". It lies where found
 * is, or points to.
 */
int arguments_further(struct arguments *arguments, const struct type *type,
		      struct found_value *found, struct place *ret) MUST_CHECK;

/* Where the result lies, likewise; -ENODATA before the return. */
const struct type *arguments_result_type(const struct arguments *arguments);
int arguments_result(const struct arguments *arguments,
		     struct found_value *found, struct place *ret) MUST_CHECK;

#endif
