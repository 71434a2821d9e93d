/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILIES_H
#define CALLTRAP_FAMILIES_H

#include "base/hash.h"
#include "base/pool.h"
#include "heap/family.h"

/* The inside of families: family_parse.c fills what family.c keeps. */

/* A family that still grows. */
struct family_draft {
	struct family family; /* first: what others see */
	const struct family_function **functions;
	size_t room;
};

struct family_name {
	const char *name;
	struct family_function *first;
	UT_hash_handle hh;
};

struct families {
	struct pool pool;
	struct family_draft **all;
	size_t count, room;
	struct family_name *names;
};

/* The family of that name, a new one if there is none. */
struct family_draft *families_family(struct families *families,
				     const char *name, size_t length);

/* A copy of the function, under this name. One of the same family and name
   that was there before is replaced. */
void families_add(struct families *families, struct family_draft *draft,
		  const struct family_function *function, const char *name,
		  size_t length);

/* One copy of a text for all who ask for it. */
const char *families_text(struct families *families, const char *text,
			  size_t length);

#endif
