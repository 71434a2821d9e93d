/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WITH_CONSTANTS_H
#define CALLTRAP_WITH_CONSTANTS_H

#include "memory/mappings.h"
#include "memory/picture.h"

/*
 * A picture, and beside it what can't be written, as it is in the process: a copy
 * of that has no pages of files that it only reads.
 */
struct with_constants {
	struct memory memory; /* first */
	const struct picture *picture;
	const struct mappings *mappings;
	struct memory *constants;
};

void with_constants_init(struct with_constants *ret,
			 const struct picture *picture,
			 const struct mappings *mappings,
			 struct memory *constants);

#endif
