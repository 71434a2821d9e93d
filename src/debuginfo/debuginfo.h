/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_H
#define CALLTRAP_DEBUGINFO_H

#include <signal.h>
#include <stdbool.h>

#include "base/types.h"
#include "image/image.h"

/*
 * What the debug information (DWARF) of an image says: source lines, inlined
 * functions, types. It is read with libdwarf, which malformed input can crash:
 * so that is done by a child process, started when it is first needed, with no
 * rights over other processes and with limits of time and memory. When it
 * dies, the image that it was asked about is not asked about any more, the
 * loss is counted, and a new child serves the others.
 *
 * When DEBUGINFOD_URLS is set, files that aren't there are fetched in the
 * background, by another child. Until one has come nothing is known of its
 * image.
 *
 * Addresses are the image's own.
 */
struct debuginfo;

struct debuginfo *debuginfo_new(void) MUST_CHECK;
void debuginfo_free(struct debuginfo *debuginfo);

/* Images whose debug information could not be read to the end, and why. */
struct debuginfo_losses {
	uint64_t crashed;
	uint64_t timed_out;
	uint64_t malformed;
};

struct debuginfo_losses debuginfo_losses(const struct debuginfo *debuginfo);

/*
 * From now on no task stands still: files that are fetched may be waited for,
 * for a while, and as long as interrupts doesn't change. NULL: no more of that.
 */
void debuginfo_wait_for_fetched(struct debuginfo *debuginfo,
				const volatile sig_atomic_t *interrupts);

/* ---- lines ---- */

/* One place in the source; of inlined functions there are several. */
struct debug_place {
	const char *function; /* as the linker knows it, else as the source
				 has it; NULL: not known */
	const char *file;     /* with its directory; NULL: not known */
	unsigned line;        /* 0: not known */
	unsigned column;
	unsigned start_line;  /* where the function begins; 0: not known */
};

/*
 * The places that an address belongs to, innermost first; the last one is the
 * function that was not inlined. Returns how many, 0 when nothing is known,
 * -EAGAIN when something may be known later, or another negative errno. They
 * are the reader's, good until it is freed.
 */
int debuginfo_places(struct debuginfo *debuginfo, struct image *image,
		     uint64_t address, const struct debug_place **ret);

/*
 * The same for many addresses, whose places debuginfo_places() then has at
 * hand: so each part of the debug information is read once.
 */
void debuginfo_prepare_places(struct debuginfo *debuginfo,
			      struct image *image, const uint64_t *addresses,
			      size_t count);

/*
 * The same without waiting: false as long as the reader is at it, and this is
 * to be called again. What has still to be fetched is not waited for.
 */
bool debuginfo_foresee_places(struct debuginfo *debuginfo,
			      struct image *image, const uint64_t *addresses,
			      size_t count) MUST_CHECK;

/* ---- types ---- */

enum debug_type_kind {
	DEBUG_VOID,
	DEBUG_INTEGER,
	DEBUG_CHARACTER, /* DW_ATE_signed_char and its like: char, wchar_t */
	DEBUG_BOOLEAN,
	DEBUG_FLOAT,
	DEBUG_COMPLEX,
	DEBUG_POINTER,
	DEBUG_ARRAY,
	DEBUG_STRUCT,    /* classes, too */
	DEBUG_UNION,
	DEBUG_ENUM,
	DEBUG_FUNCTION,  /* what a pointer may point to */
	DEBUG_REFERENCE, /* C++: an address, too */
	DEBUG_UNKNOWN,
};

#define DEBUG_NO_TYPE UINT32_MAX

/* A member, an enum's name, or a parameter. */
struct debug_part {
	const char *name;    /* or NULL */
	uint32_t type;       /* index in debug_function.types */
	int64_t value;       /* of an enum's name */
	uint64_t offset;     /* of a member */
	uint8_t bit_size;    /* of a bit-field, else 0 */
	uint8_t bit_offset;  /* from the lowest bit of its storage unit */
};

struct debug_type {
	enum debug_type_kind kind;
	const char *name;    /* or NULL */
	uint64_t size;       /* in bytes */
	uint32_t align;      /* 0: what is usual */
	bool is_signed;
	bool declared_only;  /* STRUCT, UNION: its members aren't known */
	bool by_address;     /* C++: DW_CC_pass_by_reference */
	uint32_t target;     /* POINTER, REFERENCE, ARRAY, ENUM's integer; or
				DEBUG_NO_TYPE: void, or not said */
	uint64_t length;     /* ARRAY: elements; UINT64_MAX: not known */
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
	uint32_t result;     /* DEBUG_NO_TYPE: void */
	bool prototyped;     /* false: K&R, parameters may be anything */
	bool variadic;
	bool is_method;      /* the first parameter is `this' */
	uint32_t parameter_count;
	const struct debug_part *parameters;
	uint32_t type_count;
	const struct debug_type *types;
};

/*
 * The function that begins at an address. -ENOENT when debug information has
 * none there, or only one whose arguments can't be found (of a language that
 * passes them in its own way). -EAGAIN: it is still being read or fetched,
 * which a stopped task doesn't wait for any longer; somebody may ask again
 * later.
 * Strings and arrays are the reader's, good until it is freed.
 */
int debuginfo_function(struct debuginfo *debuginfo, struct image *image,
		       uint64_t address,
		       const struct debug_function **ret) MUST_CHECK;

#endif
