/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_PLACES_H
#define CALLTRAP_PROFILE_PLACES_H

#include "naming/namer.h"
#include "report/profile/codes.h"

/* The locations of a profile, which frames become, and their functions. A
   zeroed one is empty. */
struct profile_places {
	struct profile_codes codes;
	struct profile_place *places;
	struct profile_function *functions;
	uint64_t cut_id; /* the location for what lies outside the outermost
			    frame of a stack that isn't whole */
};

struct profile_places_config {
	struct namer *namer;
	const char *main; /* the program's path */
	struct profile_writer *writer;
};

void profile_places_fini(struct profile_places *places);

/* First all frames are told, then all is written, then ids may be asked for. */
void profile_places_add(struct profile_places *places,
			const struct frame *frame);
void profile_places_put(struct profile_places *places,
			const struct profile_places_config *config);
uint64_t profile_places_id(const struct profile_places *places,
			   const struct frame *frame);

#endif
