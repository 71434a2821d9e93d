/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PLAIN_H
#define CALLTRAP_PLAIN_H

#include <stdbool.h>

#include "prototype/prototype.h"
#include "prototype/type.h"

/* What there is to know of a call whose values are all numbers. */
struct plain_prototype {
	unsigned arguments; /* in registers for integers, and on the stack */
	unsigned floats;    /* … in those for floating-point numbers */
	bool is_float;      /* so is the result */
	enum failure failure;
	bool wide;    /* the result has 64 bits, not 32 */
	bool pointer; /* … and is an address */
};

/* The result's bit, beside those of the arguments, if it is a text; if it is a number
   or a struct. */
#define PLAIN_RESULT       (1u << 7)
#define PLAIN_WHOLE_RESULT (1u << 6)

/*
 * Whether the arguments and the result are numbers and addresses, of which
 * nothing but themselves is shown: no memory has to be read. Without a prototype
 * (NULL) they are. texts: those that may be texts of bytes, too; filled: that may
 * be arrays which the function fills, as far as its result says.
 */
bool prototype_is_plain(const struct prototype *prototype, unsigned texts,
			unsigned filled);

/* A text of bytes among the arguments, and how many there are. */
struct plain_text {
	unsigned argument; /* from 0 on, of those that are no floats */
	bool ends;         /* at a NUL */
	unsigned length; /* the argument that says so (from 1 on); 0: none, alone */
};

/*
 * Those of a prototype that has such texts among its arguments, most at most, but for
 * which they and the result are numbers and addresses. Returns how many; 0: it is
 * another.
 */
unsigned prototype_texts(const struct prototype *prototype,
			 struct plain_text *ret, unsigned most);

/*
 * Of a result that is a number or an address, or none. Returns false when it
 * is something else.
 */
bool prototype_plain_result(const struct prototype *prototype,
			    struct plain_prototype *ret);

#endif
