/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/flame/stack.h"

#include "base/xalloc.h"
#include "report/format/frame_text.h"

static void add_frame(struct flame_path *path, struct namer *namer,
		      const struct frame *frame)
{
	CLEANUP(strbuf_fini) struct strbuf label = { 0 };
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);

	while (!path->full && count--) {
		const struct frame_name *name = &names[count];

		strbuf_clear(&label);
		frame_text_add(frame, name, &label);
		flame_path_add(path, &(struct flame_place){
					     strbuf_text(&label), name->library,
					     name->file, name->line });
	}
}

void flame_stack_add(struct flame_path *path, struct namer *namer,
		     const struct stacks *stacks, stack_id stack,
		     const char *callee)
{
	size_t depth;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(namer, stacks, stack, callee, &depth);

	if (stacks_end(stacks, stack) != STACK_COMPLETE)
		flame_path_add(path,
			       &(struct flame_place){ "[...]", "", NULL, 0 });
	while (!path->full && depth--)
		add_frame(path, namer, &frames[depth]);
}
