/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/call_frames.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "report/format/names.h"

#define FRAMES_SHOWN 10

static void add_library(const struct frame_name *name, struct strbuf *out)
{
	if (*name->library)
		names_escape(out, file_base_name(name->library));
	else
		strbuf_puts(out, name->function ? "[jit]" : "[anon]");
}

static void add_place(const struct frame_name *name, struct strbuf *out)
{
	if (!name->file)
		return;
	strbuf_putc(out, ',');
	names_escape(out, name->file);
	if (name->line)
		strbuf_printf(out, ":%u", name->line);
}

/* As the linker knows it, without blanks; or as it is written. */
static const char *text_of(const struct frame_name *name, bool demangle)
{
	return !demangle && name->linkage ? name->linkage : name->function;
}

static void add_function(const struct frame *frame,
			 const struct frame_name *name, bool demangle,
			 struct strbuf *out)
{
	strbuf_printf(out, " 0x%" PRIx64 "@", frame->address);
	add_library(name, out);
	if (!name->function)
		return;
	strbuf_putc(out, '(');
	names_escape(out, text_of(name, demangle));
	if (name->inlined)
		strbuf_puts(out, "+inlined");
	else if (frame->method == FRAME_TAIL)
		strbuf_puts(out, "+tail_call");
	else if (frame->method != FRAME_HANDLED)
		strbuf_printf(out, "+0x%" PRIx64, name->offset);
	add_place(name, out);
	strbuf_putc(out, ')');
}

/* What called main() is the same for all. */
static bool is_main(const struct frame_name *name)
{
	return name->linkage && !strcmp(name->linkage, "main");
}

static void prepare(const struct heap_report_config *config, stack_id stack)
{
	struct frame frames[FRAMES_SHOWN];
	size_t count = stacks_frames(config->stacks, stack, frames,
				     ARRAY_SIZE(frames));

	namer_prepare(config->namer, frames, count);
}

void heap_call_frames_add(const struct heap_report_config *config,
			  stack_id stack, const char *callee, bool demangle,
			  struct strbuf *out)
{
	struct frame *frames CLEANUP(xfree_cleanup) = NULL;
	size_t count;
	unsigned shown = 0;

	prepare(config, stack);
	frames = namer_frames(config->namer, config->stacks, stack, callee,
			      &count);
	if (!count)
		strbuf_puts(out, " ?");
	for (size_t i = 0; i < count && shown < FRAMES_SHOWN; i++) {
		const struct frame_name *names;
		size_t inlined = namer_names(config->namer, &frames[i], &names);

		for (size_t k = 0; k < inlined && shown < FRAMES_SHOWN; k++) {
			add_function(&frames[i], &names[k], demangle, out);
			shown++;
		}
		if (is_main(&names[inlined - 1]))
			return;
	}
}
