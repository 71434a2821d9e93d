/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"
#include "base/interpreter.h"
#include "heap/caller.h"
#include "report/format/names.h"
#include "report/heap/text.h"

/* What to type next, for somebody who has read that far. */

static void add_same(const struct heap_text *text, const char *option)
{
	strbuf_printf(heap_text_out(text), "the same with %s", option);
}

/* What has to be watched for it: the process, while there is one. */
static void add_watch(const struct heap_text *text, const char *option)
{
	if (text->process->state == WATCHED_EXITED)
		add_same(text, option);
	else
		strbuf_printf(heap_text_out(text), "calltrap heap %s -p %d",
			      option, (int)text->process->pid);
}

static bool is_recorded(const struct heap_text *text)
{
	return text->config->played;
}

/* What a recording has, too. */
static void add_look(const struct heap_text *text, const char *option)
{
	if (is_recorded(text))
		add_same(text, option);
	else
		add_watch(text, option);
}

/* Blocks from before are looked for in what is there, without their stacks. */
static void add_look_at_all(const struct heap_text *text)
{
	const struct watched *process = text->process;

	if (process->state == WATCHED_LEFT && !process->complete &&
	    !is_recorded(text))
		strbuf_printf(heap_text_out(text),
			      "; which blocks of before nothing leads to says "
			      "calltrap memory --leaks -p %d",
			      (int)process->pid);
}

/* ---- where the lines are ---- */

/* Whether an interpreter called for it, of whose program the stack says nothing. */
static bool is_of_script(const struct heap_text *text, const struct site *site)
{
	struct frame frames[HEAP_CALLER_DEPTH];
	const size_t count = stacks_frames(text->config->stacks, site->stack,
					   frames, ARRAY_SIZE(frames));

	if (text->config->scripts || is_recorded(text))
		return false;
	for (size_t i = 0; i < count; i++)
		if (interpreter_is(frames[i].code->path))
			return true;
	return false;
}

/* NULL: of what the row stands for there are lines, as far as is known here. */
static const char *without_lines(const struct heap_text *text,
				 const struct heap_row *row)
{
	const struct heap_report_config *config = text->config;
	const struct frame_name *name;
	struct frame frame;

	if (!row->site)
		return NULL;
	name = heap_caller(config->stacks, config->namer, config->wrappers,
			   row->site, &frame);
	if (name)
		return name->file ? NULL : name->library;
	return row->site->library;
}

static void add_page(const struct heap_text *text)
{
	add_look(text, "--html FILE");
	strbuf_puts(heap_text_out(text),
		    " makes a page with what was held when");
}

/* Lines would be asked for in vain. */
static void add_lacking(const struct heap_text *text, const char *library)
{
	struct strbuf *out = heap_text_out(text);

	add_page(text);
	strbuf_puts(out, "; of ");
	names_escape(out, file_base_name(library));
	strbuf_puts(out, " there is no debug information, so no lines of code");
	if (text->process->state == WATCHED_LEFT && !is_recorded(text))
		strbuf_printf(out, " (see calltrap doctor -p %d)",
			      (int)text->process->pid);
}

static void add_lines(const struct heap_text *text, const struct heap_row *row)
{
	const char *library = without_lines(text, row);

	if (row->site && is_of_script(text, row->site)) {
		add_watch(text, "--script");
		strbuf_puts(heap_text_out(text),
			    " shows the lines of the script");
	} else if (library && *library) {
		add_lacking(text, library);
	} else {
		add_look(text, text->config->scripts ? "--script --source" :
						       "--source");
		strbuf_puts(heap_text_out(text), " shows the lines of code");
	}
}

/* It was watched for as long as it ran where it has ended by itself. */
static void add_longer(const struct heap_text *text, bool of_nothing)
{
	if (text->process->state == WATCHED_EXITED) {
		strbuf_puts(heap_text_out(text),
			    "it has ended: give it more to do, for longer; ");
		add_page(text);
		return;
	}
	strbuf_puts(heap_text_out(text), "watch longer: ");
	add_watch(text, "--for 10m");
	if (of_nothing)
		add_look_at_all(text);
}

int heap_text_next(const struct heap_text *text, const struct heap_row *row,
		   bool is_elsewhere)
{
	struct strbuf *out = heap_text_out(text);

	strbuf_puts(out, "next: ");
	if (is_elsewhere) {
		add_watch(text, "--growth faults");
		strbuf_puts(out, " shows where from");
	} else if (!row || row->verdict->enough) {
		add_longer(text, !row);
	} else if (text->config->options->source) {
		add_page(text);
	} else {
		add_lines(text, row);
	}
	return heap_text_end_line(text);
}
