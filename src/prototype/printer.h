/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PRINTER_H
#define CALLTRAP_PRINTER_H

#include <stdbool.h>

#include "prototype/arguments.h"
#include "prototype/place.h"
#include "prototype/signature.h"

/* However large -A is: arrays of pointers to arrays of ... have an end. */
#define PRINTED_VALUES_MAX 65536

/* A struct that a value is part of, or that a pointer in it led to. */
struct open_struct {
	const struct open_struct *outer;
	const struct type *type;
	struct place place;
};

/* Shows the values of one call. */
struct printer {
	const struct call_values *values;
	const struct print_limits *limits;
	struct value_writer *writer;
	struct arguments arguments;
	const struct open_struct *open; /* the innermost, or NULL */
	unsigned left;                  /* values that are still shown */
	unsigned depth;                 /* values in values */
	bool failed; /* the call has, and so has filled nothing in */
};

/* All values that a call begins with, and its result: of whatever types they are. */
void print_any_entry(const struct prototype *prototype,
		     const struct call_values *values,
		     const struct print_limits *limits,
		     struct value_writer *writer);
void print_any_result(const struct prototype *prototype,
		      const struct call_values *values,
		      const struct print_limits *limits,
		      struct value_writer *writer);

unsigned print_word_size(const struct printer *printer);

static inline const struct value_writer_ops *
print_ops(const struct printer *printer)
{
	return printer->writer->ops;
}

/* A value; place may be anywhere. */
void print_value(struct printer *printer, const struct type *type,
		 struct place place);

/* An integer or a pointer, by what has been read. */
void print_number(struct printer *printer, const struct type *type,
		  uint64_t word);

/* Other kinds of values. */
void print_integer(struct printer *printer, const struct type *type,
		   uint64_t word);
void print_wide_integer(struct printer *printer, const struct type *type,
			struct place place);
void print_real(struct printer *printer, const struct type *type,
		struct place place);
void print_complex(struct printer *printer, const struct type *type,
		   struct place place);
void print_struct(struct printer *printer, const struct type *type,
		  struct place place);
void print_struct_behind(struct printer *printer, const struct type *type,
			 taddr_t address);
void print_array(struct printer *printer, const struct type *type,
		 struct place place);

/* The numbers of the bits that are set in so many bytes. */
void print_bits(struct printer *printer, struct place place, uint64_t size);

/* Which characters a text has. */
struct text {
	struct place place;
	uint64_t size;  /* at most; UINT64_MAX: no end is known */
	unsigned unit;  /* bytes of a character: 1, or of a wide one 2 or 4 */
	bool whole;     /* with all its NULs, else up to the first */
	bool addressed; /* where it lies is shown, too */
};

void print_text(struct printer *printer, const struct text *text);

/* A struct sockaddr of so many bytes. */
void print_socket_address(struct printer *printer, struct place place,
			  uint64_t size);

/* A string of characters of so many bytes if it looks like one, else an
   address. */
void print_maybe_text(struct printer *printer, taddr_t address, unsigned unit);

/* A string, if that is what it looks like and not empty; else a number. */
void print_guessed_text(struct printer *printer, taddr_t address);

/* How many elements; -ENODATA when that can't be known, or is negative. */
int print_count(struct printer *printer, const struct expression *length,
		uint64_t *ret) MUST_CHECK;

/* Whether an argument is there. */
bool print_condition(struct printer *printer,
		     const struct condition *condition);

/* The further arguments that a printf- or scanf-style format calls for. */
void print_format_arguments(struct printer *printer, const struct type *type,
			    taddr_t format);
void print_scan_arguments(struct printer *printer, const struct type *type,
			  taddr_t format);

#endif
