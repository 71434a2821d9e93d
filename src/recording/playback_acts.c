/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback_private.h"

#include <stdlib.h>
#include <string.h>

static struct act_target target_of(struct playback *playback,
				   struct played *played)
{
	return (struct act_target){ &played->watched,
				    playback->options.observer };
}

/* Its entry, before what was known of it only when it had returned. */
static struct heap_act entry_of(const struct heap_act *act, uint64_t time)
{
	struct heap_act entry = *act;

	entry.begin = time;
	entry.end = 0;
	entry.correction = 0;
	entry.failed = false;
	if (act->function->act == FAMILY_RESIZE)
		entry.handle = 0;
	return entry;
}

static struct begun_act *find_begun(const struct playback *playback,
				    const struct played *played,
				    const struct heap_act *act, uint64_t call)
{
	struct begun_key key;
	struct begun_act *begun;

	memset(&key, 0, sizeof(key));
	key.process = played->number;
	key.call = call;
	key.function = act->function;
	HASH_FIND(hh, playback->begun, &key, sizeof(key), begun);
	return begun;
}

static void play_begin(struct playback *playback, struct played *played,
		       const struct recorded_event *event,
		       const struct heap_act *act)
{
	const struct act_target target = target_of(playback, played);
	struct begun_act *begun =
		find_begun(playback, played, act, event->call);

	if (begun || !event->call)
		return;
	begun = xcalloc(1, sizeof(*begun));
	begun->key.process = played->number;
	begun->key.call = event->call;
	begun->key.function = act->function;
	begun->applied.act = entry_of(act, event->time);
	begun->applied.act.call = ++playback->calls;
	apply_begin(&target, &begun->applied);
	HASH_ADD(hh, playback->begun, key, sizeof(begun->key), begun);
}

/* All that the return has told, of what was begun. */
static void finish(const struct act_target *target,
		   const struct applied_act *begun, struct applied_act *ended,
		   uint64_t entered)
{
	ended->act.call = begun->act.call;
	ended->outcome = begun->outcome;
	ended->token = begun->token;
	apply_end(target, ended, entered);
}

/* One that was entered before the part that is wanted is none of it. */
static void play_end_of_call(struct playback *playback, struct played *played,
			     const struct recorded_event *event,
			     struct applied_act *ended)
{
	const struct act_target target = target_of(playback, played);
	struct begun_act *begun =
		find_begun(playback, played, &ended->act, event->call);

	if (!begun)
		return;
	finish(&target, &begun->applied, ended, begun->applied.act.begin);
	HASH_DEL(playback->begun, begun);
	free(begun);
}

static void play_call(struct playback *playback, struct played *played,
		      const struct recorded_event *event,
		      struct applied_act *ended)
{
	const struct act_target target = target_of(playback, played);
	const uint64_t entered = event->time - event->wait;
	struct applied_act begun = { .act = entry_of(&ended->act, entered) };

	begun.act.call = ++playback->calls;
	apply_begin(&target, &begun);
	finish(&target, &begun, ended, entered);
}

static void play_return(struct playback *playback, struct played *played,
			struct applied_act *ended)
{
	const struct act_target target = target_of(playback, played);

	ended->act.call = ++playback->calls;
	apply_end(&target, ended, ended->act.begin);
}

static void play_entry(struct playback *playback, struct played *played,
		       struct heap_act *act)
{
	const struct act_target target = target_of(playback, played);

	act->end = 0;
	apply_at_once(&target, act);
}

static void play_abandon(struct playback *playback, struct played *played,
			 const struct recorded_event *event,
			 const struct applied_act *applied)
{
	const struct act_target target = target_of(playback, played);
	struct begun_act *begun =
		find_begun(playback, played, &applied->act, event->call);

	if (event->call && !begun)
		return;
	apply_abandon(&target, begun ? &begun->applied : applied, event->time,
		      false);
	if (begun)
		HASH_DEL(playback->begun, begun);
	free(begun);
}

/* Member by member: there is one for each event. */
static void fill_act(const struct recorded_event *event,
		     const struct glossary_site *site, pid_t tid,
		     struct heap_act *ret)
{
	ret->function = site->function;
	ret->call = 0;
	ret->begin = event->time - event->duration;
	ret->end = event->time;
	ret->correction = event->correction;
	ret->tid = tid;
	ret->stack = site->stack;
	ret->handle = event->handle;
	ret->old = event->old;
	ret->size = event->size;
	ret->count = event->count;
	ret->item = event->item;
	ret->old_size = event->old_size;
	ret->failed = event->failed;
	ret->untimed = false;
	ret->unkept = event->unkept;
	ret->is_further = event->further;
	ret->sampling = SAMPLING_OPEN;
	ret->rate = 0;
	ret->library = site->library;
	ret->site = site->known;
}

/* Once it is there: as a rule, when its first act was played. */
static void learn_site(const struct played *played, struct glossary_site *site,
		       pid_t tid, const struct recorded_event *event)
{
	struct heap_act act;

	if (site->known || !family_acquires(site->function))
		return;
	fill_act(event, site, tid, &act);
	site->known = heap_site_number(played->watched.heap, &act);
}

static bool is_call(const struct recorded_event *event)
{
	return event->kind != RECORDED_END && !event->further &&
	       !(event->kind == RECORDED_ABANDON && event->call);
}

/* Its return tells nothing but how long it took. */
static void release_at_once(struct heap *heap,
			    const struct recorded_event *event,
			    struct heap_act *act)
{
	struct heap_act ended = *act;

	act->begin = event->time - event->wait;
	act->end = 0;
	act->correction = 0;
	act->failed = false;
	(void)heap_take_act(heap, act);
	heap_act_timed(heap, &ended);
}

/* As below, where nobody observes it. False: nothing was done. */
static bool play_at_once(struct playback *playback, struct heap *heap,
			 const struct recorded_event *event,
			 struct heap_act *act)
{
	switch (event->kind) {
	case RECORDED_ENTRY:
		act->end = 0;
		(void)heap_take_act(heap, act);
		return true;
	case RECORDED_RETURN:
		act->call = ++playback->calls;
		(void)heap_take_act(heap, act);
		return true;
	case RECORDED_CALL:
		if (!family_always_releases(act->function))
			return false;
		playback->calls++;
		release_at_once(heap, event, act);
		return true;
	default:
		return false;
	}
}

static void play_by_steps(struct playback *playback, struct played *played,
			  const struct recorded_event *event,
			  struct applied_act *applied)
{
	switch (event->kind) {
	case RECORDED_ENTRY:
		play_entry(playback, played, &applied->act);
		break;
	case RECORDED_RETURN:
		play_return(playback, played, applied);
		break;
	case RECORDED_CALL:
		play_call(playback, played, event, applied);
		break;
	case RECORDED_BEGIN:
		play_begin(playback, played, event, &applied->act);
		break;
	case RECORDED_END:
		play_end_of_call(playback, played, event, applied);
		break;
	case RECORDED_ABANDON:
		play_abandon(playback, played, event, applied);
		break;
	case RECORDED_NOTE:
	case RECORDED_KINDS:
		break;
	}
}

/* As far as it wasn't known when it was looked at. False: it is none, or of a
   process that is over. */
static bool find_played(struct playback *playback, struct coming *coming)
{
	const struct glossary_thread *thread;

	if (coming->played)
		return !coming->played->over;
	thread = glossary_thread(&playback->glossary, coming->event->thread);
	if (!thread || !coming->site) {
		playback->damaged = true;
		return false;
	}
	coming->played = played_find(playback, thread->process);
	coming->tid = thread->tid;
	if (!coming->played)
		return false;
	playback->damaged = !knows(coming->played, coming->site);
	return !playback->damaged;
}

void play_act(struct playback *playback, struct coming *coming)
{
	const struct recorded_event *event = coming->event;
	struct glossary_site *site = coming->site;
	struct applied_act applied;
	struct played *played;

	if (!find_played(playback, coming))
		return;
	played = coming->played;
	played->watched.calls += is_call(event);
	(void)known_site(played, site);
	fill_act(event, site, coming->tid, &applied.act);
	if (playback->options.observer ||
	    !play_at_once(playback, played->watched.heap, event,
			  &applied.act)) {
		applied.outcome = (struct heap_outcome){ 0 };
		applied.token = 0;
		play_by_steps(playback, played, event, &applied);
	}
	learn_site(played, site, coming->tid, event);
}
