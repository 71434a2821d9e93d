/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_DEBUG_TYPE_H
#define CALLTRAP_DWARF_DEBUG_TYPE_H

#include <stdbool.h>

#include "base/types.h"

/* Types as debug information has them, on both sides of the wire. */

enum debug_type_kind {
	DEBUG_VOID,
	DEBUG_INTEGER,
	DEBUG_CHARACTER, /* DW_ATE_signed_char and its like: char, wchar_t */
	DEBUG_BOOLEAN,
	DEBUG_FLOAT,
	DEBUG_COMPLEX,
	DEBUG_POINTER,
	DEBUG_ARRAY,
	DEBUG_STRUCT, /* classes, too */
	DEBUG_UNION,
	DEBUG_ENUM,
	DEBUG_FUNCTION,  /* what a pointer may point to */
	DEBUG_REFERENCE, /* C++: an address, too */
	DEBUG_UNKNOWN,
};

#define DEBUG_NO_TYPE UINT32_MAX

/* A member, an enum's name, or a parameter. */
struct debug_part {
	const char *name;   /* or NULL */
	uint32_t type;      /* index in debug_function.types */
	int64_t value;      /* of an enum's name */
	uint64_t offset;    /* of a member */
	uint8_t bit_size;   /* of a bit-field, else 0 */
	uint8_t bit_offset; /* from the lowest bit of its storage unit */
};

struct debug_type {
	enum debug_type_kind kind;
	const char *name; /* or NULL */
	uint64_t size;    /* in bytes */
	uint32_t align;   /* 0: what is usual */
	bool is_signed;
	bool declared_only; /* STRUCT, UNION: its members aren't known */
	bool by_address;    /* C++: DW_CC_pass_by_reference */
	uint32_t target;    /* POINTER, REFERENCE, ARRAY, ENUM's integer; or
				DEBUG_NO_TYPE: void, or not said */
	uint64_t length;    /* ARRAY: elements; UINT64_MAX: not known */
	uint32_t part_count;
	const struct debug_part *parts;
};

/*
 * A function's type: types[] holds every type that it is made of, to a bounded
 * depth and number (beyond which they are DEBUG_UNKNOWN); types may refer to
 * each other in circles. Typedefs (but for C's wchar_t and its like), const and
 * the like are left out.
 */
struct debug_function {
	uint32_t result; /* DEBUG_NO_TYPE: void */
	bool prototyped; /* false: K&R, parameters may be anything */
	bool variadic;
	bool is_method; /* the first parameter is `this' */
	uint32_t parameter_count;
	const struct debug_part *parameters;
	uint32_t type_count;
	const struct debug_type *types;
};

/* Steps of one way. */
#define DEBUG_STEPS_MAX 64

/* Elements of one type, one after the other; where they are told, the first
   number in brackets is theirs. */
struct debug_row {
	uint64_t start; /* from the beginning of what they are in */
	uint64_t size;  /* of each; 0: there are none */
	uint64_t bytes; /* of all; UINT64_MAX: they have no known end */
};

/* A step along pointers, from a variable on. */
struct debug_step {
	const char *path; /* what leads to the pointer: ".list[3].first", "":
			     it is all there is; NULL: not known */
	const char *type; /* of what it points at, or NULL */
	const char *kind; /* of one file, where this is equal, ways go on
			     equally; NULL: it doesn't go on */
	uint64_t end;     /* it goes on from offsets below that only */
	struct debug_row row; /* that the pointer is in */
};

#endif
