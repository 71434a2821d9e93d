/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROFILE_STACKS_H
#define CALLTRAP_PROFILE_STACKS_H

#include "report/profile/places.h"
#include "report/profile/writer.h"
#include "stack/stacks.h"

/* Samples of a profile, each with its stack, its values and its labels. */

struct profile_stacks {
	const struct stacks *stacks;
	struct profile_writer *writer;
	struct profile_places places;
	struct namer *namer;
};

#define PROFILE_LABELS_MAX 9

struct profile_labels {
	Pprof__Label all[PROFILE_LABELS_MAX];
	Pprof__Label *pointers[PROFILE_LABELS_MAX];
	size_t count;
};

/* A text that is NULL or "" makes no label; a unit may be NULL. */
void profile_labels_add_text(struct profile_labels *labels,
			     struct profile_writer *writer, const char *key,
			     const char *text);
void profile_labels_add_number(struct profile_labels *labels,
			       struct profile_writer *writer, const char *key,
			       uint64_t number, const char *unit);

/* First all stacks are told; then the program is, by its path, with names for
   its frames; then all samples are written. callee: see namer_frames(). */
void profile_stacks_add(struct profile_stacks *stacks, stack_id stack,
			const char *callee);
void profile_stacks_put_places(struct profile_stacks *stacks,
			       const char *program);
void profile_stacks_put(struct profile_stacks *stacks, stack_id stack,
			const char *callee, int64_t *values, size_t count,
			struct profile_labels *labels);
void profile_stacks_fini(struct profile_stacks *stacks);

#endif
