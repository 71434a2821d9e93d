/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LAYOUT_H
#define CALLTRAP_LAYOUT_H

#include <stdbool.h>

#include "prototype/type.h"

/* Types that are not placed may not be larger than this. */
#define LAYOUT_BYTES_MAX (UINT64_C(1) << 30)

/* How much room a value needs. */
struct layout {
	uint64_t size; /* 0: none that is known */
	uint32_t align;
};

/* Of types that need no more than LAYOUT_BYTES_MAX; else that much. */
struct layout layout_of(const struct type *type, unsigned word_size);

/* Goes through the members of a struct or union, in their order. */
struct layout_walk {
	const struct type *type;
	unsigned word_size;
	unsigned index; /* of the next one */
	uint64_t end;   /* of those so far */
	uint32_t align; /* the largest so far */
};

struct layout_walk layout_members(const struct type *type, unsigned word_size);

/* The next member and where it lies; NULL when there is none. */
const struct type_member *layout_next(struct layout_walk *walk,
				      uint64_t *offset_ret);

/*
 * What debug information has no word for: the alignment of a struct that is
 * placed, as its members need it, unless they don't lie like that, because
 * they are packed. (Of some packed structs that can't be told.) It matters on
 * x86_64 alone.
 */
uint32_t layout_natural_align(const struct type *type);

#endif
