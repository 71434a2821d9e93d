/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PRINTER_H
#define CALLTRAP_PRINTER_H

#include <stdbool.h>

#include "prototype/signature.h"

/* Arrays of pointers to arrays of ... must come to an end. */
#define PRINTED_VALUES_MAX 65536

/* Shows the values of one call. */
struct printer {
	const struct prototype *prototype;
	const struct call_values *values;
	const struct print_limits *limits;
	struct strbuf *out;
	size_t start; /* where in out the list of arguments began */
	unsigned left; /* values that are still read from memory */
};

/* ", ", unless it is the list's first. */
void print_separator(struct printer *printer);

/* A value that is a word (an integer or a pointer), or lies in memory. */
void print_word(struct printer *printer, const struct type *type,
		uint64_t word);
void print_at(struct printer *printer, const struct type *type,
	      taddr_t address);

/* What can't be read is its address and "?". */
void print_unreadable(struct printer *printer, taddr_t address);

/* Which bytes a text has. */
struct text {
	taddr_t address;
	uint64_t size;    /* at most; UINT64_MAX: no end is known */
	bool whole;       /* with all its NULs, else up to the first */
};

void print_text(struct printer *printer, const struct text *text);

/* How many elements; -ENODATA when that can't be known, or is negative. */
int print_count(struct printer *printer, const struct expression *length,
		uint64_t *ret) MUST_CHECK;

/* The arguments from a slot on that a printf-style format calls for. */
void print_format_arguments(struct printer *printer, taddr_t format,
			    unsigned slot);

#endif
