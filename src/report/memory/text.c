/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/names.h"
#include "report/format/short_name.h"

#define NAME_WIDTH   100
#define NAMELESS_MIN 3 /* so many in a row, of one file, are told as one */
#define ALIKE_MIN \
	3 /* so many that stand under another stack as well are
			  not told again */

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
	else if (frame->method == FRAME_POINTER)
		strbuf_puts(out, ", by frame pointer");
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

/* The frames that are of interest: up to main(). */
static size_t shown_frames(const struct heap_text *text,
			   const struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;
		size_t inlined =
			namer_names(text->config->namer, &frames[i], &names);

		if (i && is_start(&names[inlined - 1]))
			return i;
		if (is_main(&names[inlined - 1], count, i))
			return i + 1;
	}
	return count;
}

static struct frame *frames_of(const struct heap_text *text, stack_id stack,
			       const char *callee, size_t *count_ret,
			       bool *ended_ret)
{
	size_t count;
	struct frame *frames = namer_frames(text->config->namer,
					    text->config->stacks, stack, callee,
					    &count);

	*count_ret = shown_frames(text, frames, count);
	*ended_ret = *count_ret < count;
	return frames;
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->code == b->code && a->address == b->address &&
	       a->method == b->method;
}

/* What calls both, as far as that is the same. */
static size_t alike_frames(const struct heap_text *text,
			   const struct heap_text_shown *shown,
			   const struct frame *frames, size_t count)
{
	size_t other_count, alike = 0;
	bool ended;
	struct frame *other CLEANUP(xfree_cleanup) = NULL;

	/* Who wants everything gets it. */
	if (!shown->stack || !text->config->options->top)
		return 0;
	other = frames_of(text, shown->stack, shown->callee, &other_count,
			  &ended);
	while (alike + 1 < count && alike < other_count &&
	       is_same(&frames[count - 1 - alike],
		       &other[other_count - 1 - alike]))
		alike++;
	return alike >= ALIKE_MIN ? alike : 0;
}

/* The file of a frame of which no more than that is known. */
static const char *nameless_file(const struct heap_text *text,
				 const struct frame *frame)
{
	const struct frame_name *names;
	size_t count = namer_names(text->config->namer, frame, &names);

	return count == 1 && !names->function && !names->file ? names->library :
								NULL;
}

/* How many frames, from the first on, are of one file and have no names. */
static size_t nameless_frames(const struct heap_text *text,
			      const struct frame *frames, size_t count)
{
	const char *file = nameless_file(text, frames);
	size_t i;

	if (!file || !text->config->options->top)
		return 0;
	for (i = 1; i < count; i++) {
		const char *next = nameless_file(text, &frames[i]);

		if (!next || strcmp(next, file) != 0)
			break;
	}
	return i >= NAMELESS_MIN ? i : 0;
}

static int add_frame(const struct heap_text *text, const struct frame *frame,
		     const char *indent)
{
	const struct frame_name *names;
	size_t count = namer_names(text->config->namer, frame, &names);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = add_frame_name(text, frame, &names[i], indent);
	return err;
}

static int add_nameless(const struct heap_text *text, const struct frame *frame,
			size_t count, const char *indent)
{
	const char *file = nameless_file(text, frame);
	int err = add_frame(text, frame, indent);

	if (err)
		return err;
	strbuf_printf(heap_text_out(text), "%s... %zu more without names (",
		      indent, count - 1);
	names_escape(heap_text_out(text),
		     *file ? file_base_name(file) : "no file");
	strbuf_putc(heap_text_out(text), ')');
	return heap_text_end_line(text);
}

static int add_frames(const struct heap_text *text, const struct frame *frames,
		      size_t count, const char *indent)
{
	size_t i = 0;
	int err = 0;

	while (!err && i < count) {
		size_t nameless = nameless_frames(text, &frames[i], count - i);

		err = nameless ?
			      add_nameless(text, &frames[i], nameless, indent) :
			      add_frame(text, &frames[i], indent);
		i += nameless ? nameless : 1;
	}
	return err;
}

static int add_alike(const struct heap_text *text,
		     const struct heap_text_shown *shown, size_t alike,
		     const char *indent)
{
	strbuf_printf(heap_text_out(text), "%s... %zu more, as ", indent,
		      alike);
	if (shown->number)
		strbuf_printf(heap_text_out(text), "under stack %u",
			      shown->number);
	else
		strbuf_puts(heap_text_out(text), "above");
	return heap_text_end_line(text);
}

int heap_text_next_stack(const struct heap_text *text,
			 const struct heap_text_shown *stack,
			 const char *indent, struct heap_text_shown *shown)
{
	static const char *const ends[] = {
		[STACK_CUT] = "... (--depth shows more)",
		[STACK_BROKEN] = "? (what called this is not known)",
	};
	const enum stack_end end =
		stacks_end(text->config->stacks, stack->stack);
	size_t count, alike;
	bool ended;
	struct frame *frames CLEANUP(xfree_cleanup) =
		frames_of(text, stack->stack, stack->callee, &count, &ended);
	int err;

	alike = alike_frames(text, shown, frames, count);
	err = add_frames(text, frames, count - alike, indent);
	if (!err && alike)
		return add_alike(text, shown, alike, indent);
	*shown = *stack;
	if (err || ended || end == STACK_COMPLETE)
		return err;
	strbuf_printf(heap_text_out(text), "%s%s", indent, ends[end]);
	return heap_text_end_line(text);
}

int heap_text_stack(const struct heap_text *text, stack_id stack,
		    const char *callee, const char *indent)
{
	struct heap_text_shown nothing = { 0 };

	return heap_text_next_stack(text,
				    &(struct heap_text_shown){
					    .stack = stack, .callee = callee },
				    indent, &nothing);
}
