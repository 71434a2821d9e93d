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
};

/* Where a number is found at a call. */
enum operand_kind {
	OPERAND_NONE,
	OPERAND_ARGUMENT,    /* argument .index (from 0) */
	OPERAND_PRODUCT,     /* argument .index times argument .second */
	OPERAND_RESULT,
	OPERAND_STORED,      /* what argument .index points to, after the
				return */
	OPERAND_CONSTANT,    /* .number */
};

struct operand {
	enum operand_kind kind;
	uint8_t index;
	uint8_t second;
	uint8_t width;       /* STORED: in bytes; 0: as large as a pointer */
	uint64_t number;
};

/* Whether a call has succeeded, by its result. */
enum family_success {
	SUCCESS_NONZERO,     /* a pointer that isn't null */
	SUCCESS_ZERO,
	SUCCESS_NOT_NEGATIVE,
	SUCCESS_ALWAYS,
	SUCCESS_NOT_MINUS_ONE, /* mmap */
};

/* One function of a family. */
struct family_function {
	const char *name;    /* a symbol, as the linker knows it */
	enum family_act act;
	struct operand handle;    /* what is acquired or released */
	struct operand old;       /* RESIZE: what was there before */
	struct operand size;      /* ACQUIRE, RESIZE, and sized RELEASE */
	struct operand alignment;
	enum family_success success;
	/*
	 * The form that the releasing function must match: new[] is not given
	 * back by free(). 0: any.
	 */
	uint8_t form;
};

/* One kind of thing that can leak. */
struct family {
	const char *name;    /* "malloc", "descriptors", … */
	const char *unit;    /* "bytes", or what one handle is called */
	bool has_size;
	/* A handle of this value is nothing: releasing it is no error. */
	bool null_is_nothing;
	size_t function_count;
	const struct family_function *functions;
};

/* All families of a session. */
struct families;

struct families *families_new(void) MUST_CHECK;
void families_free(struct families *families);

/*
 * Reads a family file. What is wrong in it is reported through diag
 * ("FILE:LINE:COLUMN: what was expected"), and the line is left out. A
 * negative errno when the file can't be read.
 */
int families_read(struct families *families, const char *path) MUST_CHECK;

const struct family *families_all(const struct families *families,
				  size_t *count_ret);

/* The function of that name, and its family; or NULL. */
const struct family_function *
families_find(const struct families *families, const char *name,
	      const struct family **family_ret);

#endif
