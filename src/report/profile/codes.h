/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_CODES_H
#define CALLTRAP_PROFILE_CODES_H

#include "report/profile/writer.h"
#include "stack/stacks.h"

/*
 * The code that frames of a profile lie in. A profile has one address space,
 * but libraries come and go, and several may have been at one address; so
 * those that can lie anywhere get ranges of their own, which overlap with
 * nothing. A file's mappings keep their offsets and distances, which is all
 * that readers need.
 */
struct profile_codes {
	struct profile_code *all;
};

void profile_codes_fini(struct profile_codes *codes);

/* First all frames are told, */
void profile_codes_add(struct profile_codes *codes, const struct frame *frame);

/* then addresses are chosen, and mappings written; main is the path of the
   program, whose mappings come first; */
void profile_codes_put(struct profile_codes *codes, const char *main,
		       struct profile_writer *writer);

/* then it can be asked where a frame lies: address and mapping_id. */
void profile_codes_locate(const struct profile_codes *codes,
			  const struct frame *frame, Pprof__Location *ret);

#endif
