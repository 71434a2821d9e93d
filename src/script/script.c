/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/script.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "script/evaluate.h"

/*
 * What may be done to answer one question: enough to find one of thousands of
 * threads, or to come out of a deep recursion; and a few milliseconds.
 */
#define STEPS_MAX (1u << 16)

/* How many frames of libraries the program's own one is looked for behind. */
#define LIBRARY_FRAMES_MAX 64

const struct script_object *script_objects(const struct script *script,
					   size_t *count_ret)
{
	*count_ret = script->object_count;
	return script->objects;
}

/* The items from one on, but for those whose values nobody else needs. */
static int evaluate_items(struct evaluation *evaluation,
			  const struct script *script, size_t from)
{
	for (size_t i = from; i < script->item_count; i++) {
		uint64_t *value = &evaluation->values[i];
		int err;

		if (i == script->file || i == script->function ||
		    i == script->outer)
			continue;
		err = script_evaluate(evaluation, script->items[i].node, value);
		if (err)
			return err;
		if (i == script->valid && !*value)
			return -ENOENT;
	}
	return 0;
}

/* Or NULL: a script's outermost code is in none. */
static char *function_of(struct evaluation *evaluation,
			 const struct script *script)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (script->function == SCRIPT_NONE ||
	    script_evaluate_text(evaluation,
				 script->items[script->function].node, &name) ||
	    !*strbuf_text(&name))
		return NULL;
	return xstrdup(strbuf_text(&name));
}

static int add_frame(struct evaluation *evaluation, const struct script *script,
		     struct script_frames *frames)
{
	CLEANUP(strbuf_fini) struct strbuf file = { 0 };
	uint64_t line = evaluation->values[script->line];
	int err = script_evaluate_text(evaluation,
				       script->items[script->file].node, &file);

	if (err)
		return err;
	if (line > INT_MAX)
		return -EINVAL;
	frames->list = xreallocarray(frames->list, frames->known + 1,
				     sizeof(*frames->list));
	frames->list[frames->known++] = (struct script_frame){
		.file = xstrdup(strbuf_text(&file)),
		.function = function_of(evaluation, script),
		.line = line,
	};
	return 0;
}

/* Goes to the frame that has called it; an error when there is none. */
static int leave_frame(struct evaluation *evaluation,
		       const struct script *script)
{
	uint64_t outer;
	int err;

	if (script->outer == SCRIPT_NONE || script->frame == SCRIPT_NONE)
		return -ENOENT;
	err = script_evaluate(evaluation, script->items[script->outer].node,
			      &outer);
	if (err)
		return err;
	if (!outer)
		return -ENOENT;
	evaluation->values[script->frame] = outer;
	return evaluate_items(evaluation, script, script->frame + 1);
}

/* Whether the last one that was found is in no library. */
static bool is_own(const struct script_frames *frames)
{
	return !script_is_library(frames->list[frames->known - 1].file);
}

/* As many as were asked for, and on to one that is in no library. */
static void add_outer_frames(struct evaluation *evaluation,
			     const struct script *script, size_t depth,
			     struct script_frames *frames)
{
	bool found = is_own(frames);
	size_t own = 0;

	while ((frames->known < depth ||
		(!found && frames->known < LIBRARY_FRAMES_MAX)) &&
	       leave_frame(evaluation, script) == 0 &&
	       add_frame(evaluation, script, frames) == 0) {
		if (!found && is_own(frames)) {
			found = true;
			own = frames->known - 1;
		}
	}
	frames->own = &frames->list[own];
}

int script_ask(const struct script *script, struct script_thread *thread,
	       size_t depth, struct script_frames **ret)
{
	struct evaluation evaluation = { .thread = thread, .steps = STEPS_MAX };
	struct script_frames *frames;
	int err;

	if (script->file == SCRIPT_NONE || script->line == SCRIPT_NONE)
		return -ENOENT;
	err = evaluate_items(&evaluation, script, 0);
	if (err)
		return err;
	frames = xcalloc(1, sizeof(*frames));
	err = add_frame(&evaluation, script, frames);
	if (err) {
		script_frames_free(frames);
		return err;
	}
	add_outer_frames(&evaluation, script, depth, frames);
	frames->count = frames->known < depth ? frames->known : depth;
	*ret = frames;
	return 0;
}

void script_frames_free(struct script_frames *frames)
{
	if (!frames)
		return;
	for (size_t i = 0; i < frames->known; i++) {
		free((char *)frames->list[i].file);
		free((char *)frames->list[i].function);
	}
	free(frames->list);
	free(frames);
}
