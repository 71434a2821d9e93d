/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_stack.h"

#include <stdlib.h>
#include <string.h>

#include "report/format/json_writer.h"

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, json_text(text, strlen(text)));
}

/* What led to a frame from the one inside of it. */
static const char *const methods[] = {
	[FRAME_INNERMOST] = "registers", [FRAME_ENTRY] = "return address",
	[FRAME_CFI] = "unwind tables",   [FRAME_POINTER] = "frame pointer",
	[FRAME_SIGNAL] = "signal frame", [FRAME_HANDLED] = "signal handler",
	[FRAME_GUESSED] = "guess",       [FRAME_SCRIPT] = "interpreter",
};

static json_t *frame_object(const struct frame *frame,
			    const struct frame_name *name)
{
	json_t *object = json_object();

	set_text(object, "function", name->function);
	if (name->function && !name->inlined)
		json_object_set_new(object, "offset",
				    json_integer(name->offset));
	set_text(object, "library", name->library);
	json_object_set_new(object, "address", json_address(frame->address));
	set_text(object, "file", name->file);
	if (name->line)
		json_object_set_new(object, "line", json_integer(name->line));
	if (name->inlined)
		json_object_set_new(object, "inlined", json_true());
	else if (frame->method == FRAME_TAIL)
		json_object_set_new(object, "tail_call", json_true());
	else
		set_text(object, "found_by", methods[frame->method]);
	return object;
}

static void add_frame(json_t *array, struct namer *namer,
		      const struct frame *frame)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names), i;

	for (i = 0; i < count; i++)
		json_array_append_new(array, frame_object(frame, &names[i]));
}

json_t *json_stack(const struct stacks *stacks, struct namer *namer,
		   stack_id stack, const char *callee)
{
	size_t count, i;
	struct frame *frames =
		namer_frames(namer, stacks, stack, callee, &count);
	json_t *array = json_array();

	for (i = 0; i < count; i++)
		add_frame(array, namer, &frames[i]);
	free(frames);
	return array;
}
