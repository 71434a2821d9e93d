/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "report/format/names.h"
#include "report/format/short_name.h"

#define NAME_WIDTH 100

static int add_frame_name(const struct heap_text *text,
			  const struct frame *frame,
			  const struct frame_name *name, const char *indent)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, indent);
	if (name->function)
		short_name_add(out, name->function, NAME_WIDTH);
	else
		strbuf_printf(out, "%#" PRIx64, frame->address);
	if (name->file) {
		strbuf_putc(out, ' ');
		names_escape(out, name->file);
		if (name->line)
			strbuf_printf(out, ":%u", name->line);
	}
	strbuf_puts(out, " (");
	names_escape(out, *name->library ? file_base_name(name->library) :
					   "no file");
	if (name->inlined)
		strbuf_puts(out, ", inlined");
	else if (frame->method == FRAME_TAIL)
		strbuf_puts(out, ", tail call");
	strbuf_putc(out, ')');
	return heap_text_end_line(text);
}

/* What called main() is the same for all. */
static bool is_main(const struct frame_name *name, size_t count, size_t i)
{
	return name->linkage && !strcmp(name->linkage, "main") && i + 1 < count;
}

/* Nor is it of interest where main() has no name. */
static bool is_start(const struct frame_name *name)
{
	return name->linkage &&
	       (!strcmp(name->linkage, "__libc_start_call_main") ||
		!strncmp(name->linkage, "__libc_start_main",
			 strlen("__libc_start_main")));
}

int heap_text_stack(const struct heap_text *text, stack_id stack,
		    const char *callee, const char *indent)
{
	static const char *const ends[] = {
		[STACK_CUT] = "... (--depth shows more)",
		[STACK_BROKEN] = "? (what called this is not known)",
	};
	size_t count;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(text->config->namer, text->config->stacks, stack,
			     callee, &count);
	enum stack_end end = stacks_end(text->config->stacks, stack);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		const struct frame_name *names;
		size_t inlined =
			namer_names(text->config->namer, &frames[i], &names);

		if (i && is_start(&names[inlined - 1]))
			return 0;
		for (size_t k = 0; !err && k < inlined; k++)
			err = add_frame_name(text, &frames[i], &names[k],
					     indent);
		if (!err && is_main(&names[inlined - 1], count, i))
			return 0;
	}
	if (err || end == STACK_COMPLETE)
		return err;
	strbuf_printf(heap_text_out(text), "%s%s", indent, ends[end]);
	return heap_text_end_line(text);
}
