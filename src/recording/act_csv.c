/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "recording/act_stats.h"

struct act_csv {
	struct act_observer observer;
	FILE *file;
	const struct stacks *stacks;
	uint64_t start;
};

static const char *const acts[] = {
	[FAMILY_ACQUIRE] = "acquire", [FAMILY_RELEASE] = "release",
	[FAMILY_RESIZE] = "resize",   [FAMILY_REPLACE] = "replace",
	[FAMILY_MOVE] = "move",
};

/* What is no plain text is left out: quotes, commas and ends of lines. */
static void put_name(FILE *file, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == '"' ||
				      *name == ',' || *name == ';' ?
			      '_' :
			      *name,
		      file);
}

#define FRAMES 64

static void put_stack(const struct act_csv *csv, stack_id stack)
{
	struct frame frames[FRAMES];
	size_t count = stacks_frames(csv->stacks, stack, frames, FRAMES);

	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(';', csv->file);
		put_name(csv->file, file_base_name(frames[i].code->path));
		fprintf(csv->file, "+0x%" PRIx64, frames[i].address);
	}
}

static void put(const struct act_csv *csv, const struct observed_act *told,
		bool returned)
{
	const struct heap_act *act = told->act;
	uint64_t time = act->end ? act->end : act->begin;

	fprintf(csv->file, "%" PRIu64 ",%d,%d,%s,", time - csv->start,
		(int)told->process->pid, (int)act->tid,
		acts[act->function->act]);
	put_name(csv->file, act->function->name);
	fprintf(csv->file, ",0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%s,",
		act->handle, act->old, act->size,
		!returned          ? "unfinished" :
		told->outcome.done ? "done" :
				     "failed");
	if (returned && act->end > act->begin)
		fprintf(csv->file, "%" PRIu64, act->end - act->begin);
	fputc(',', csv->file);
	put_stack(csv, act->stack);
	fputc('\n', csv->file);
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
	fputs("nanoseconds,process,thread,act,function,handle,old,size,"
	      "result,duration,stack\n",
	      file);
	return csv;
}

void act_csv_free(struct act_csv *csv)
{
	free(csv);
}

struct act_observer *act_csv_observer(struct act_csv *csv)
{
	return &csv->observer;
}
