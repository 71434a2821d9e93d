/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILY_H
#define CALLTRAP_FAMILY_H

#include <stdbool.h>

#include "base/types.h"

/*
 * Functions that acquire, release and resize something: memory, descriptors,
 * handles. Allocators are data: those that calltrap knows are files of the same
 * form as the user's (calltrap.conf(5), FAMILIES).
 */

enum family_act {
	FAMILY_ACQUIRE,
	FAMILY_RELEASE,
	FAMILY_RESIZE,  /* gives the old one back if it succeeds */
	FAMILY_REPLACE, /* acquires a handle that may be in use; what it stood
			   for is given back (dup2) */
	FAMILY_MOVE,    /* moves the end of one range (brk, sbrk) */
};

/* Where a number is found at a call. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_ARGUMENT, /* argument .index (from 0) */
	OPERAND_PRODUCT,  /* argument .index times argument .second */
	OPERAND_RESULT,
	OPERAND_STORED,   /* what argument .index points to, after the return:
			     .count of them in a row */
	OPERAND_CONSTANT, /* .number */
};

struct operand {
	enum operand_kind kind;
	uint8_t index;
	uint8_t second;
	uint8_t width; /* in bytes; 0: as large as a pointer */
	uint8_t count; /* STORED */
	bool is_signed;
	uint64_t number;
};

/* What is said of a result. */
enum family_compare {
	COMPARE_ALWAYS,
	COMPARE_EQUAL,
	COMPARE_NOT_EQUAL,
	COMPARE_AT_LEAST,
	COMPARE_GREATER,
};

/* When a call has succeeded, by its result. */
struct family_success {
	enum family_compare compare;
	uint8_t width; /* of the result, as in struct operand */
	int64_t number;
};

#define FAMILY_CHOICES_MAX 4

/* A parameter that must have one of these values; else the call is something
   quite different (fcntl). */
struct family_choice {
	uint8_t index, width; /* as of an operand */
	uint8_t count;        /* 0: it isn't asked for */
	uint64_t numbers[FAMILY_CHOICES_MAX];
};

/* One function of a family. */
struct family_function {
	const char *name; /* a symbol, as the linker knows it */
	const struct family *family;
	enum family_act act;
	struct operand handle;   /* what is acquired or released; MOVE: the
				     new end */
	struct operand old;      /* RESIZE: what was there before; MOVE: the
				     old end */
	struct operand size;     /* ACQUIRE, RESIZE, and sized RELEASE; MOVE:
				     by how much */
	struct operand old_size; /* RESIZE of ranges */
	struct family_success success;
	struct family_choice choice;
	/*
	 * The form that the releasing function must match: new[] is not given
	 * back by free(). NULL: any.
	 */
	const char *form;
	/* Another function of that name, in another family: fdopen() takes a
	   descriptor and gives a file. */
	const struct family_function *next;
};

/* Whether something with a handle of its own may be held after it. */
static inline bool family_acquires(const struct family_function *function)
{
	return function->act == FAMILY_ACQUIRE ||
	       function->act == FAMILY_RESIZE ||
	       function->act == FAMILY_REPLACE;
}

/* A release that needs nobody to wait for its return. */
static inline bool
family_always_releases(const struct family_function *function)
{
	return function->act == FAMILY_RELEASE &&
	       function->success.compare == COMPARE_ALWAYS;
}

/* One kind of thing that can leak. */
struct family {
	const char *name; /* "malloc", "descriptors", … */
	const char *unit; /* "bytes", or what handles are called */
	unsigned index;   /* among all families */
	bool has_size;    /* the unit is bytes */
	/* No handle has the value 0: to release it does nothing. */
	bool null_is_nothing;
	/* A handle may be acquired again, and is then released as often. */
	bool shared;
	/* Its functions release what none of them has acquired, too: what is
	   part of something larger, or was made within the library; and that
	   releases by other ways. */
	bool partly;
	/* A collector gives them back in its own time, and nobody calls anything
	   for that: see heap_set_look(). */
	bool collected;
	/*
	 * Not 0: handles are beginnings of ranges, parts of which can be given
	 * back; beginnings and sizes are multiples of this many bytes.
	 */
	uint64_t granularity;
	size_t function_count;
	const struct family_function *const *functions;
};

/* All families of a session. */
struct families;

struct families *families_new(void) MUST_CHECK;
void families_free(struct families *families);

/*
 * Reads a family file. What is wrong in it is reported through diag
 * (DIAG_WARNING, "FILE:LINE:COLUMN: what was expected"), and the line is left
 * out. A negative errno when the file can't be read. All files are read before
 * families are used: pointers to them are good as long as no other is read.
 */
int families_read(struct families *families, const char *path) MUST_CHECK;

/* The same of a text; path is what messages call it. */
void families_parse(struct families *families, const char *path,
		    const char *text, size_t size);

size_t families_count(const struct families *families);
const struct family *families_at(const struct families *families, size_t index);

/* The first function of that name (.next has the others), or NULL. */
const struct family_function *families_find(const struct families *families,
					    const char *name);

#endif
