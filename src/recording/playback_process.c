/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback_private.h"

#include <stdlib.h>

static struct heap *new_heap(const struct playback *playback,
			     const struct watched *watched)
{
	return heap_new(&(struct heap_options){
		.families = playback->options.families,
		.start = watched->start,
		.complete = watched->complete,
		.timeline = playback->options.timeline,
		.sample = playback->options.sample,
		.seed = playback->options.seed + (uint64_t)watched->pid,
		.component = playback->options.component,
		.context = playback->options.context,
		.stacks = playback->options.stacks,
		.namer = playback->options.namer,
		.missing = playback->glossary.missing,
		.inherited = watched->inherited,
		.inherited_count = watched->inherited_count,
	});
}

static struct played *add(struct playback *playback, uint64_t number,
			  const struct glossary_process *told)
{
	struct played *played = xcalloc(1, sizeof(*played));
	struct watched *watched = &played->watched;
	const bool late = playback->since > told->start;

	played->number = number;
	watched->pid = told->pid;
	watched->program = told->program;
	strncpy(watched->name, told->name, sizeof(watched->name) - 1);
	watched->start = late ? playback->since : told->start;
	watched->complete = told->flags & PROCESS_COMPLETE && !late;
	if (told->flags & PROCESS_INHERITED && !late) {
		watched->inherited = told->inherited;
		watched->inherited_count = told->inherited_count;
	}
	watched->heap = new_heap(playback, watched);
	return played;
}

struct played *played_find(struct playback *playback, uint64_t number)
{
	const struct glossary_process *told =
		glossary_process(&playback->glossary, number);
	struct played **place;

	if (!told) {
		playback->damaged = true;
		return NULL;
	}
	while (playback->count < number) {
		playback->all = xgrow(playback->all, playback->count,
				      &playback->room, sizeof(*playback->all));
		playback->all[playback->count++] = NULL;
	}
	place = &playback->all[number - 1];
	if (!*place)
		*place = add(playback, number, told);
	return (*place)->over ? NULL : *place;
}

static void name_threads(const struct playback *playback,
			 const struct played *played)
{
	for (size_t i = 0; i < playback->glossary.thread_count; i++) {
		const struct glossary_thread *thread =
			&playback->glossary.threads[i];

		if (thread->process == played->number)
			heap_set_thread_name(played->watched.heap, thread->tid,
					     thread->name);
	}
}

static void end_begun(struct playback *playback, const struct played *played)
{
	struct begun_act *begun, *next;

	HASH_ITER(hh, playback->begun, begun, next) {
		if (begun->key.process != played->number)
			continue;
		heap_abandon(played->watched.heap, &begun->applied.act);
		HASH_DEL(playback->begun, begun);
		free(begun);
	}
}

void played_end(struct playback *playback, struct played *played)
{
	end_begun(playback, played);
	played->over = true;
	*playback->end_over = played;
	playback->end_over = &played->next;
}

static void tell_read(const struct playback *playback)
{
	const struct played *first = playback->first_over;
	bool several = false;

	for (const struct played *played = first; played; played = played->next)
		several |= played->watched.pid != first->watched.pid;
	if (playback->options.read)
		playback->options.read(playback->options.context, several);
}

void played_tell(const struct playback *playback)
{
	tell_read(playback);
	for (struct played *played = playback->first_over; played;
	     played = played->next) {
		name_threads(playback, played);
		playback->options.ended(playback->options.context,
					&played->watched, &played->cost);
	}
}

void played_end_all(struct playback *playback, uint64_t now)
{
	for (size_t i = 0; i < playback->count; i++) {
		struct played *played = playback->all[i];

		if (!played || played->over)
			continue;
		played->watched.end = now > played->watched.start ?
					      now :
					      played->watched.start;
		played->watched.state = WATCHED_LEFT;
		played_end(playback, played);
	}
}

void played_free(struct played *played)
{
	heap_free(played->watched.heap);
	history_fini(&played->watched.resident);
	free(played);
}
