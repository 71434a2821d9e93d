/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/stacks.h"

#include <stdlib.h>

#include "base/xalloc.h"

/* ---- labels ---- */

static Pprof__Label *add_label(struct profile_labels *labels,
			       struct profile_writer *writer, const char *key)
{
	Pprof__Label *label = &labels->all[labels->count];

	pprof__label__init(label);
	label->key = profile_writer_text(writer, key);
	labels->pointers[labels->count++] = label;
	return label;
}

void profile_labels_add_text(struct profile_labels *labels,
			     struct profile_writer *writer, const char *key,
			     const char *text)
{
	if (text && *text)
		add_label(labels, writer, key)->text =
			profile_writer_text(writer, text);
}

void profile_labels_add_number(struct profile_labels *labels,
			       struct profile_writer *writer, const char *key,
			       uint64_t number, const char *unit)
{
	Pprof__Label *label = add_label(labels, writer, key);

	label->number = profile_number(number);
	label->number_unit = profile_writer_text(writer, unit);
}

/* ---- stacks ---- */

void profile_stacks_add(struct profile_stacks *stacks, stack_id stack,
			const char *callee)
{
	size_t depth;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(stacks->namer, stacks->stacks, stack, callee,
			     &depth);

	for (size_t i = 0; i < depth; i++)
		profile_places_add(&stacks->places, &frames[i]);
}

void profile_stacks_put_places(struct profile_stacks *stacks,
			       const char *program)
{
	const struct profile_places_config config = {
		.namer = stacks->namer,
		.main = program ? program : "",
		.writer = stacks->writer,
	};

	profile_places_put(&stacks->places, &config);
}

void profile_stacks_put(struct profile_stacks *stacks, stack_id stack,
			const char *callee, int64_t *values, size_t count,
			struct profile_labels *labels)
{
	size_t depth;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(stacks->namer, stacks->stacks, stack, callee,
			     &depth);
	uint64_t *ids CLEANUP(xfree_cleanup) = xcalloc(depth + 1, sizeof(*ids));
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	for (size_t i = 0; i < depth; i++)
		ids[i] = profile_places_id(&stacks->places, &frames[i]);
	if (stacks_end(stacks->stacks, stack) != STACK_COMPLETE)
		ids[depth++] = stacks->places.cut_id;
	sample.n_location_ids = depth;
	sample.location_ids = ids;
	sample.n_values = count;
	sample.values = values;
	sample.n_labels = labels->count;
	sample.labels = labels->pointers;
	piece.n_samples = 1;
	piece.samples = &samples;
	profile_writer_put(stacks->writer, &piece);
}

void profile_stacks_fini(struct profile_stacks *stacks)
{
	profile_places_fini(&stacks->places);
}
