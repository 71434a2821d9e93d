/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/decimal.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "recording/act_stats.h"

/* Stacks that were written lately, as text: most come again soon. */
#define KNOWN 4096

struct known_text {
	stack_id stack; /* STACK_NONE: none yet */
	struct strbuf text;
};

struct act_csv {
	struct act_observer observer;
	FILE *file;
	const struct stacks *stacks;
	uint64_t start;
	struct strbuf line;
	struct known_text *known; /* by stack */
};

static const char *const acts[] = {
	[FAMILY_ACQUIRE] = "acquire", [FAMILY_RELEASE] = "release",
	[FAMILY_RESIZE] = "resize",   [FAMILY_REPLACE] = "replace",
	[FAMILY_MOVE] = "move",
};

/* A file may have names of any length, in as many frames as it likes. */
#define NAME_MAX_WRITTEN 1024

/* What is no plain text is left out: quotes, commas and ends of lines. */
static void add_name(struct strbuf *out, const char *name)
{
	const char *end = name + NAME_MAX_WRITTEN;

	for (; *name && name < end; name++)
		strbuf_putc(out, (unsigned char)*name < ' ' || *name == '"' ||
						 *name == ',' || *name == ';' ?
					 '_' :
					 *name);
}

static void add_number(struct strbuf *out, uint64_t number)
{
	char digits[DECIMAL_SIZE];

	strbuf_puts(out, decimal_text(number, false, digits));
}

static void add_address(struct strbuf *out, uint64_t number)
{
	char digits[2 + 2 * sizeof(number)];
	char *at = digits + sizeof(digits);

	do
		*--at = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	*--at = 'x';
	*--at = '0';
	strbuf_add(out, at, digits + sizeof(digits) - at);
}

#define FRAMES 64

static void add_frames(const struct stacks *stacks, stack_id stack,
		       struct strbuf *out)
{
	struct frame frames[FRAMES];
	size_t count = stacks_frames(stacks, stack, frames, FRAMES);

	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_putc(out, ';');
		add_name(out, file_base_name(frames[i].code->path));
		strbuf_putc(out, frames[i].method == FRAME_SCRIPT ? ':' : '+');
		if (frames[i].method == FRAME_SCRIPT)
			add_number(out, frames[i].address);
		else
			add_address(out, frames[i].address);
	}
}

static void add_stack(struct act_csv *csv, stack_id stack)
{
	struct known_text *known = &csv->known[stack % KNOWN];

	if (stack == STACK_NONE)
		return;
	if (known->stack != stack) {
		strbuf_clear(&known->text);
		add_frames(csv->stacks, stack, &known->text);
		known->stack = stack;
	}
	strbuf_add(&csv->line, strbuf_text(&known->text), known->text.length);
}

static const char *result_of(const struct observed_act *told, bool returned)
{
	if (!returned)
		return "unfinished";
	return told->outcome.done ? "done" : "failed";
}

static void add_act(const struct observed_act *told, uint64_t start,
		    struct strbuf *out)
{
	const struct heap_act *act = told->act;

	add_number(out, (act->end ? act->end : act->begin) - start);
	strbuf_putc(out, ',');
	add_number(out, told->process->pid);
	strbuf_putc(out, ',');
	add_number(out, act->tid);
	strbuf_putc(out, ',');
	strbuf_puts(out, acts[act->function->act]);
	strbuf_putc(out, ',');
	add_name(out, act->function->name);
	strbuf_putc(out, ',');
	add_address(out, act->handle);
	strbuf_putc(out, ',');
	add_address(out, act->old);
	strbuf_putc(out, ',');
	add_number(out, act->size);
}

static void put(struct act_csv *csv, const struct observed_act *told,
		bool returned)
{
	const struct heap_act *act = told->act;
	struct strbuf *line = &csv->line;

	strbuf_clear(line);
	add_act(told, csv->start, line);
	strbuf_putc(line, ',');
	strbuf_puts(line, result_of(told, returned));
	strbuf_putc(line, ',');
	if (returned && act->end > act->begin)
		add_number(line, act->end - act->begin);
	strbuf_putc(line, ',');
	add_stack(csv, act->stack);
	strbuf_putc(line, '\n');
	fwrite(line->text, 1, line->length, csv->file);
}

static uint64_t on_taken(struct act_observer *observer UNUSED,
			 const struct observed_act *told UNUSED)
{
	return 0;
}

static void on_ended(struct act_observer *observer,
		     const struct observed_act *told)
{
	put((struct act_csv *)observer, told, true);
}

static void on_abandoned(struct act_observer *observer,
			 const struct observed_act *told)
{
	put((struct act_csv *)observer, told, false);
}

static const struct act_observer_ops observer_ops = {
	.taken = on_taken,
	.ended = on_ended,
	.abandoned = on_abandoned,
};

struct act_csv *act_csv_new(FILE *file, const struct stacks *stacks,
			    uint64_t start)
{
	struct act_csv *csv = xcalloc(1, sizeof(*csv));

	csv->observer.ops = &observer_ops;
	csv->file = file;
	csv->stacks = stacks;
	csv->start = start;
	csv->known = xcalloc(KNOWN, sizeof(*csv->known));
	fputs("nanoseconds,process,thread,act,function,handle,old,size,"
	      "result,duration,stack\n",
	      file);
	return csv;
}

void act_csv_free(struct act_csv *csv)
{
	for (size_t i = 0; i < KNOWN; i++)
		strbuf_fini(&csv->known[i].text);
	free(csv->known);
	strbuf_fini(&csv->line);
	free(csv);
}

struct act_observer *act_csv_observer(struct act_csv *csv)
{
	return &csv->observer;
}
