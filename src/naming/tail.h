/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NAMING_TAIL_H
#define CALLTRAP_NAMING_TAIL_H

#include "debuginfo/debuginfo.h"
#include "naming/tail_path.h"
#include "stack/stacks.h"

/*
 * Functions that have left by a jump, to one that runs in their place: they are
 * on no stack, but debug information may prove that they were there.
 */
struct tails;

struct tails *tails_new(struct debuginfo *debuginfo) MUST_CHECK;
void tails_free(struct tails *tails);

/* Whether debug information may be waited for. It may at first. */
void tails_wait(struct tails *tails, bool wait);

/*
 * Those between a frame and the one inside of it, or (inner is NULL) a function
 * that it has called and of which nothing but the name is known. Innermost
 * first; returns how many. They are FRAME_TAIL, and good as long as the caller
 * likes.
 */
size_t tails_between(struct tails *tails, const struct frame *outer,
		     const struct frame *inner, const char *callee,
		     struct frame ret[TAIL_PATH_MAX]);

/* How many answers of tails_between() may be others later. */
uint64_t tails_unfinished(const struct tails *tails);

/* They are known from elsewhere. False when they were known before. */
bool tails_teach(struct tails *tails, const struct frame *outer,
		 const struct frame *inner, const char *callee,
		 const uint64_t *addresses, size_t count);

#endif
