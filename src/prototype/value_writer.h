/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VALUE_WRITER_H
#define CALLTRAP_VALUE_WRITER_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "base/types.h"
#include "prototype/value_style.h"

/*
 * Where the values of a call go to, one after the other: the log writes them
 * as text, others in their own form. Embedded as the first member of what
 * implements it.
 */
struct value_writer {
	const struct value_writer_ops *ops;
};

/* How the text of a number came about. */
enum number_style {
	NUMBER_DECIMAL,
	NUMBER_BASED, /* 0x1f, 017, 0b11 */
	NUMBER_CHAR,  /* 'a', EOF */
	NUMBER_BOOL,  /* true, false */
	NUMBER_NAMED, /* by an enum or flags: O_RDWR|O_CREAT|0x40000000 */
	NUMBER_BITS,  /* <0,3-5> */
};

struct value_number {
	uint64_t value; /* extended to 64 bits by its sign, if it has one */
	bool is_signed;
	enum number_style style;
	const char *text; /* as the log shows it */
};

struct value_text {
	const char *bytes; /* anything, NULs too */
	size_t length;
	bool wide;       /* the program has wide characters; here it is UTF-8 */
	bool cut;        /* it goes on */
	taddr_t address; /* where it lies, if that is to be seen, or 0 */
};

enum value_group {
	GROUP_ARRAY,
	GROUP_STRUCT, /* unions, too; members may have names */
};

/* Each call but name, cut and end is one value. */
struct value_writer_ops {
	/* Of the value that comes next: of a parameter, or a member. */
	void (*name)(struct value_writer *writer, const char *name);

	void (*number)(struct value_writer *writer,
		       const struct value_number *number);
	void (*real)(struct value_writer *writer, long double value,
		     const char *text);
	void (*text)(struct value_writer *writer,
		     const struct value_text *text);
	void (*address)(struct value_writer *writer, taddr_t address);

	/* A null pointer, where what it points to would have been shown. */
	void (*null)(struct value_writer *writer);

	/* What has no other form: a complex number, 128 bits, "recurse". */
	void (*word)(struct value_writer *writer, const char *text);

	/* There is something at this address, which can't be read. */
	void (*unreadable)(struct value_writer *writer, taddr_t address);

	/* A value that could not be found. */
	void (*unknown)(struct value_writer *writer);

	/* Values that are there and not shown. */
	void (*omitted)(struct value_writer *writer);

	/* An array's further elements are not shown; its end follows. */
	void (*cut)(struct value_writer *writer);

	void (*begin)(struct value_writer *writer, enum value_group group);
	void (*end)(struct value_writer *writer, enum value_group group);
};

/*
 * As the log has it: 3, "text", {a=1, b=2}, [1, 2...]; values on one level
 * are separated by ", ".
 */
struct text_writer {
	struct value_writer writer;
	struct strbuf *out;
	const struct value_style *style;
	size_t fresh; /* a value that begins there needs no separator */
};

struct text_writer text_writer_to(struct strbuf *out,
				  const struct value_style *style);

#endif
