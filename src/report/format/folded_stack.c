/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/folded_stack.h"

#include "base/xalloc.h"
#include "report/format/frame_text.h"

static void replace_semicolons(struct strbuf *out, size_t start)
{
	for (size_t i = start; i < out->length; i++)
		if (out->text[i] == ';')
			out->text[i] = ',';
}

static void add_frame(const struct frame *frame, const struct frame_name *name,
		      struct strbuf *out)
{
	size_t start = out->length;

	frame_text_add(frame, name, out);
	replace_semicolons(out, start);
	strbuf_putc(out, ';');
}

void folded_stack_add_leaf(const char *symbol, struct strbuf *out)
{
	size_t start = out->length;

	frame_text_add_allocator(symbol, out);
	replace_semicolons(out, start);
}

void folded_stack_add(struct namer *namer, const struct stacks *stacks,
		      stack_id stack, const char *callee, struct strbuf *out)
{
	size_t depth;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(namer, stacks, stack, callee, &depth);

	if (stacks_end(stacks, stack) != STACK_COMPLETE)
		strbuf_puts(out, "[...];");
	while (depth--) {
		const struct frame_name *names;
		size_t count = namer_names(namer, &frames[depth], &names);

		while (count--)
			add_frame(&frames[depth], &names[count], out);
	}
}
