/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/log_stack.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/names.h"

static const char *library_name(const struct frame_name *name)
{
	if (!*name->library)
		return name->function ? "[jit]" : "[anon]";
	return file_base_name(name->library);
}

static void add_place(const struct frame_name *name, struct strbuf *out)
{
	if (!name->file)
		return;
	strbuf_putc(out, ' ');
	names_escape(out, name->file);
	if (name->line)
		strbuf_printf(out, ":%u", name->line);
}

/* The offset in a function that was inlined says nothing. */
static void add_function(const struct frame *frame,
			 const struct frame_name *name, struct strbuf *out)
{
	if (name->function)
		names_escape(out, name->function);
	if (name->inlined)
		strbuf_puts(out, ", inlined");
	else if (frame->method != FRAME_HANDLED)
		strbuf_printf(out, "+%#llx",
			      (unsigned long long)(name->function ?
							   name->offset :
							   frame->address));
	if (frame->method == FRAME_TAIL && !name->inlined)
		strbuf_puts(out, ", tail call");
}

static int add_line(struct output *output, const struct frame *frame,
		    const struct frame_name *name)
{
	struct strbuf *out = &output->text;

	strbuf_puts(out, " > ");
	names_escape(out, library_name(name));
	strbuf_putc(out, '(');
	add_function(frame, name, out);
	strbuf_printf(out, ") [%#llx]", (unsigned long long)frame->address);
	add_place(name, out);
	return output_end_line(output);
}

static int add_frame(struct output *output, struct namer *namer,
		     const struct frame *frame)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names), i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = add_line(output, frame, &names[i]);
	return err;
}

static int add_end(struct output *output, enum stack_end end)
{
	if (end != STACK_BROKEN)
		return 0;
	strbuf_puts(&output->text, " > ? (what called this is not known)");
	return output_end_line(output);
}

static void prepare(const struct stacks *stacks, struct namer *namer,
		    stack_id stack)
{
	size_t count = stacks_depth(stacks, stack);
	struct frame *frames CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*frames));

	stacks_frames(stacks, stack, frames, count);
	namer_prepare(namer, frames, count);
}

int log_stack_add(struct output *output, const struct stacks *stacks,
		  struct namer *namer, stack_id stack, const char *callee)
{
	size_t count, i;
	struct frame *frames;
	int err = 0;

	prepare(stacks, namer, stack);
	frames = namer_frames(namer, stacks, stack, callee, &count);
	for (i = 0; i < count && !err; i++)
		err = add_frame(output, namer, &frames[i]);
	free(frames);
	return err ? err : add_end(output, stacks_end(stacks, stack));
}
