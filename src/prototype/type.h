/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TYPE_H
#define CALLTRAP_TYPE_H

#include <stdbool.h>

#include "base/types.h"
#include "prototype/expression.h"

/* What a value is made of. */
enum type_kind {
	TYPE_VOID,
	TYPE_INTEGER,
	TYPE_FLOAT,
	TYPE_COMPLEX,
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCT,
	TYPE_UNION,
};

/* How a value is shown. */
enum lens {
	LENS_PLAIN, /* as is usual for its kind */
	LENS_CHAR,
	LENS_BOOL,
	LENS_OCTAL,
	LENS_HEX,
	LENS_BINARY,
	LENS_GUESS,   /* a number if it is small, else an address */
	LENS_BITS,    /* the numbers of the bits that are set */
	LENS_ERRNAME, /* an error number, with its name */
	LENS_ENUM,
	LENS_FLAGS, /* the names of the bits that are set */
	LENS_HIDE,
	LENS_STRING,     /* an array (or pointer to one), up to the first NUL */
	LENS_BYTES,      /* the same, with all its NULs */
	LENS_FORMAT,     /* a string that says which arguments follow it */
	LENS_SCAN,       /* the same, as for scanf */
	LENS_SOCKADDR,   /* so many bytes that are a socket's address */
	LENS_MAYBE_TEXT, /* a pointer to char of which nobody said what it
			    is: a string when that is what it looks like */
	LENS_GUESS_TEXT, /* the same, or a number if it is small */
};

/* How a result says that the function has failed. */
enum failure {
	FAILURE_UNKNOWN, /* nobody knows */
	FAILURE_ERRNO,   /* -1, or a null pointer: errno says why */
	FAILURE_ERRNUM,  /* it is an error number, 0 is none */
	FAILURE_ZERO,
	FAILURE_NONZERO,
	FAILURE_NEGATIVE,
	FAILURE_KERNEL, /* -4095 to -1: a negated error number */
};

/*
 * A name of a value (LENS_ENUM), or of the bits of one (LENS_FLAGS): it stands
 * for those that have value in the bits of mask.
 */
struct type_name {
	const char *name;
	int64_t value;
	uint64_t mask; /* LENS_FLAGS: never 0 */
};

/* A part of a struct or union. */
struct type_member {
	const struct type *type;
	const char *name;   /* NULL: it has none that would be shown */
	uint64_t offset;    /* in bytes; of a bit-field, of its storage unit */
	uint8_t bit_size;   /* of a bit-field; 0: it is none */
	uint8_t bit_offset; /* from the storage unit's lowest bit */
};

/* The size of an integer that is as large as a pointer of the program. */
#define TYPE_WORD 0

/* The size of a long double, which depends on the program's ABI. */
#define TYPE_EXTENDED 10

/* Types that contain others are nested at most this deep. */
#define TYPE_DEPTH_MAX 32

struct type {
	enum type_kind kind;
	enum lens lens;
	uint8_t size;   /* INTEGER, FLOAT: in bytes, or TYPE_WORD or
			      TYPE_EXTENDED; COMPLEX: that of each part */
	bool is_signed; /* INTEGER */
	bool complete;  /* STRUCT, UNION: more than its name is known */
	bool placed;    /* … and its layout: .bytes, .align and the
			      members' offsets; else it follows from their
			      types, by the rules of the traced program's ABI */
	bool is_text;   /* … and shown as its first member: std::string */
	bool in_memory; /* … and is passed by reference (a C++ class that
			      can't be copied bit by bit; Itanium C++ ABI 3.1) */
	uint64_t bytes; /* STRUCT, UNION that are placed: their size */
	uint32_t align;
	enum failure failure; /* INTEGER, POINTER: as a function's result */
	bool addressed;       /* POINTER to text, ARRAY behind such a one: where
			      it lies is shown, too */
	bool needs_result;    /* a length in it is that of the result */
	unsigned depth;  /* of types in it, without those behind a struct */
	unsigned weight; /* numbers that a value of it holds, array elements
			      counted once; matters if it isn't .placed */
	unsigned count;  /* of members (STRUCT, UNION) or of names */
	const struct type *target;         /* POINTER, ARRAY */
	const struct expression *length;   /* ARRAY */
	const struct type_member *members; /* STRUCT, UNION */
	const struct type_name *names;     /* LENS_ENUM, LENS_FLAGS */
};

/* Of whatever there is no prototype for. */
extern const struct type type_guess;

/* The type that the language has under a name, or NULL. */
const struct type *type_builtin(const char *name, size_t length);

/* False for a struct or union of which only the name is known. */
bool type_is_complete(const struct type *type);

#endif
