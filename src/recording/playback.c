/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "heap/apply.h"
#include "recording/decoder.h"
#include "recording/numbers.h"

/* A process of the recording. */
struct played {
	struct watched watched;
	uint32_t number;
	struct heap_cost cost;
	bool over;
	struct played *next; /* that came to its end after this one */
};

/* A call that was entered and has not returned. */
struct begun_key {
	uint64_t process, call;
	const struct family_function *function;
};

struct begun_act {
	struct begun_key key;
	struct applied_act applied;
	UT_hash_handle hh;
};

struct playback {
	struct playback_options options;
	struct source_blocks source;
	struct glossary glossary;
	uint64_t read_ahead; /* dictionaries before that were */
	struct played **all; /* by number, less 1 */
	size_t count, room;
	struct begun_act *begun;
	uint64_t since, until; /* monotonic */
	uint64_t calls;        /* numbers for those that need one */
	struct playback_counts counts;
	struct played *first_over, **end_over;
	bool damaged;
};

struct playback *playback_new(const struct playback_options *options)
{
	struct playback *playback = xcalloc(1, sizeof(*playback));

	playback->options = *options;
	playback->source.fd = -1;
	playback->end_over = &playback->first_over;
	glossary_init(&playback->glossary, options->stacks, options->families,
		      options->namer);
	return playback;
}

static void forget(struct played *played)
{
	heap_free(played->watched.heap);
	history_fini(&played->watched.resident);
	free(played);
}

void playback_free(struct playback *playback)
{
	struct begun_act *begun, *next;

	if (!playback)
		return;
	HASH_ITER(hh, playback->begun, begun, next) {
		HASH_DEL(playback->begun, begun);
		free(begun);
	}
	for (size_t i = 0; i < playback->count; i++)
		if (playback->all[i])
			forget(playback->all[i]);
	free(playback->all);
	glossary_fini(&playback->glossary);
	source_blocks_fini(&playback->source);
	free(playback);
}

struct playback_counts playback_counts(const struct playback *playback)
{
	return playback->counts;
}

/* ---- processes ---- */

static bool is_in_part(const struct playback *playback)
{
	return playback->options.since || playback->options.until;
}

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

/* NULL: there is none, or it is over. */
static struct played *find(struct playback *playback, uint64_t number)
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

/* Who ends is told of when all has been read: names come last. */
static void end(struct playback *playback, struct played *played)
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

static void tell_over(const struct playback *playback)
{
	tell_read(playback);
	for (struct played *played = playback->first_over; played;
	     played = played->next) {
		name_threads(playback, played);
		playback->options.ended(playback->options.context,
					&played->watched, &played->cost);
	}
}

/* … with the recording, or with the part of it that is wanted. */
static void end_all(struct playback *playback, uint64_t now)
{
	for (size_t i = 0; i < playback->count; i++) {
		struct played *played = playback->all[i];

		if (!played || played->over)
			continue;
		played->watched.end = now > played->watched.start ?
					      now :
					      played->watched.start;
		played->watched.state = WATCHED_LEFT;
		end(playback, played);
	}
}

/* ---- notes ---- */

static void play_sample(struct played *played, uint64_t time, struct cursor *in)
{
	struct watched *watched = &played->watched;
	struct vitals vitals;

	sample_note_take(in, &vitals);
	if (!watched->samples++)
		watched->first_vitals = vitals;
	watched->vitals = vitals;
	watched->sampled = time;
	history_change(&watched->resident,
		       heap_time(watched->heap, time) - watched->start,
		       (struct history_state){ .bytes =
						       vitals.resident_bytes });
}

static void play_held_up(struct played *played, uint64_t time,
			 struct cursor *in)
{
	struct heap_held_up held_up = { .until = time };

	held_up.since = take_varint(in);
	held_up.ns = take_varint(in);
	if (!in->bad && held_up.since < time)
		heap_held_up(played->watched.heap, &held_up);
}

static void play_end(struct playback *playback, struct played *played,
		     uint64_t time, struct cursor *in)
{
	struct watched *watched = &played->watched;
	const uint64_t calls = watched->calls;

	end_note_take(in, watched);
	if (is_in_part(playback))
		watched->calls = calls;
	watched->end = time;
	end(playback, played);
}

static void play_dropped(struct playback *playback, struct cursor *in)
{
	uint64_t count = take_varint(in), since = take_varint(in);
	uint64_t until = take_varint(in);

	if (since > playback->until)
		return;
	if (until > playback->until)
		until = playback->until;
	playback->counts.dropped += count;
	for (size_t i = 0; i < playback->count; i++)
		if (playback->all[i] && !playback->all[i]->over)
			heap_missed(playback->all[i]->watched.heap, since,
				    until);
}

static void play_note(struct playback *playback,
		      const struct recorded_event *event)
{
	struct cursor in = cursor_of(event->body, event->body_size);
	struct played *played;

	if (event->note == NOTE_DROPPED) {
		play_dropped(playback, &in);
		return;
	}
	if (event->note > NOTE_HELD_UP)
		return;
	played = find(playback, take_varint(&in));
	if (!played)
		return;
	switch ((enum recorded_note)event->note) {
	case NOTE_SAMPLE:
		play_sample(played, event->time, &in);
		break;
	case NOTE_SWITCH:
		heap_switch(played->watched.heap, event->time,
			    take_varint(&in));
		break;
	case NOTE_MISSED:
		heap_missed(played->watched.heap, take_varint(&in),
			    event->time);
		break;
	case NOTE_HELD_UP:
		play_held_up(played, event->time, &in);
		break;
	case NOTE_COST:
		cost_note_take(&in, &played->cost);
		played->watched.cost.stops = played->cost.cost.stops;
		played->watched.cost.stopped_ns = played->cost.stopped_ns;
		break;
	case NOTE_END:
		play_end(playback, played, event->time, &in);
		break;
	case NOTE_DROPPED:
		break;
	}
}

/* ---- acts ---- */

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

/* What this process's heap calls it, or 0: nobody has said yet. */
static uint32_t known_site(const struct played *played,
			   struct glossary_site *site)
{
	if (site->process != played->number) {
		site->process = played->number;
		site->known = 0;
	}
	return site->known;
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

/* A family that was told of when the heap was there already has no place in it. */
static bool knows(const struct played *played, const struct glossary_site *site)
{
	return site->function->family->index <
	       heap_family_count(played->watched.heap);
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

/* An event that is looked at before it is played. */
struct coming {
	const struct recorded_event *event;
	struct glossary_site *site;
	struct played *played; /* NULL: not known by now */
	uint32_t from, to;     /* sites that lose, and get, a block; or 0 */
	pid_t tid;
};

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
	coming->played = find(playback, thread->process);
	coming->tid = thread->tid;
	if (!coming->played)
		return false;
	playback->damaged = !knows(coming->played, coming->site);
	return !playback->damaged;
}

static void play_act(struct playback *playback, struct coming *coming)
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

/* ---- blocks ---- */

/* What was dropped is told when there is room again. */
static void play_late(struct playback *playback,
		      const struct recorded_event *event)
{
	if (event->kind == RECORDED_NOTE && event->note == NOTE_DROPPED)
		play_note(playback, event);
}

static void play_event(struct playback *playback, struct coming *coming)
{
	const struct recorded_event *event = coming->event;

	if (event->time > playback->counts.last_time)
		playback->counts.last_time = event->time;
	if (event->time < playback->since)
		return;
	if (event->time > playback->until) {
		play_late(playback, event);
		return;
	}
	playback->counts.events++;
	if (event->kind == RECORDED_NOTE)
		play_note(playback, event);
	else
		play_act(playback, coming);
}

/* So many are looked at before the first of them is played: what they need of
   the heap is on its way meanwhile, step by step. */
#define AHEAD 32

static void expect_handle(const struct coming *coming, uint64_t handle)
{
	if (handle)
		heap_expect(coming->played->watched.heap,
			    coming->site->function->family, handle);
}

static void expect(struct playback *playback, struct coming *coming)
{
	const struct recorded_event *event = coming->event;
	const struct glossary_thread *thread =
		glossary_thread(&playback->glossary, event->thread);
	struct glossary_site *site =
		glossary_site(&playback->glossary, event->site);
	struct played *played;

	coming->site = site;
	if (!thread || !site || thread->process > playback->count)
		return;
	played = playback->all[thread->process - 1];
	if (!played || !knows(played, site))
		return;
	coming->played = played;
	coming->tid = thread->tid;
	if (family_acquires(site->function))
		coming->to = known_site(played, site);
	expect_handle(coming, event->handle);
	expect_handle(coming, event->old);
}

static void expect_block(struct coming *coming)
{
	const struct recorded_event *event = coming->event;
	const uint64_t handle = event->old ? event->old : event->handle;
	const struct heap *heap;

	if (!coming->played)
		return;
	heap = coming->played->watched.heap;
	if (handle && (event->old || !coming->to))
		coming->from = heap_expect_block(heap,
						 coming->site->function->family,
						 handle);
	heap_expect_site(heap, coming->from);
	heap_expect_site(heap, coming->to);
}

static void expect_details(const struct coming *coming)
{
	if (!coming->played)
		return;
	heap_expect_details(coming->played->watched.heap, coming->from);
	heap_expect_details(coming->played->watched.heap, coming->to);
}

static void expect_all(struct playback *playback, struct coming *list,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect(playback, &list[i]);
	for (size_t i = 0; i < count; i++)
		expect_block(&list[i]);
	for (size_t i = 0; i < count; i++)
		expect_details(&list[i]);
}

static void play_some(struct playback *playback,
		      const struct recorded_event *events, size_t count)
{
	struct coming list[AHEAD];

	for (size_t i = 0; i < count; i++) {
		list[i] = (struct coming){ .event = &events[i] };
		glossary_expect_site(&playback->glossary, events[i].site);
	}
	expect_all(playback, list, count);
	for (size_t i = 0; i < count && !playback->damaged; i++)
		play_event(playback, &list[i]);
}

static void play_events(struct playback *playback,
			const struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->count && !playback->damaged;
	     i += AHEAD) {
		const size_t left = decoded->count - i;

		play_some(playback, decoded->events + i,
			  left < AHEAD ? left : AHEAD);
	}
}

/* at: where the block is. Of those that were read ahead, what may change is read
   again. */
static void read_dictionary(struct playback *playback, uint64_t at,
			    const struct strbuf *text, uint32_t entries)
{
	playback->glossary.complete = at < playback->read_ahead;
	if (!glossary_read(&playback->glossary, strbuf_text(text), text->length,
			   entries))
		playback->damaged = true;
}

static struct playback_end play_blocks(struct playback *playback)
{
	struct decoder *decoder =
		decoder_new(&playback->source,
			    &(struct decoder_part){ playback->since,
						    playback->until });
	const struct decoded *decoded;
	struct playback_end end;

	do {
		decoded = decoder_next(decoder);
		if (decoded->kind == BLOCK_DICTIONARY)
			read_dictionary(playback, decoded->at, &decoded->text,
					decoded->entries);
		else
			play_events(playback, decoded);
	} while (decoded->kind != BLOCK_INDEX && !playback->damaged);
	end = (struct playback_end){ decoded->error, decoded->at,
				     decoded->problem };
	if (playback->damaged) {
		end.error = -EBADMSG;
		end.problem = "a block makes no sense";
	}
	decoder_free(decoder);
	return end;
}

static bool is_dictionary(const void *context UNUSED,
			  const struct indexed_block *block)
{
	return block->kind == BLOCK_DICTIONARY;
}

/* That of the block whose head was read, if it is one. */
static int read_dictionary_block(struct playback *playback,
				 const struct block_head *head)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int err;

	if (head->kind != BLOCK_DICTIONARY)
		return source_blocks_pass(&playback->source, head);
	err = source_blocks_expand(&playback->source, head, &text);
	if (!err)
		read_dictionary(playback, playback->source.at, &text,
				head->count);
	return err;
}

/*
 * Names come at the end, and are wanted while events are played: so where one
 * can go back, the dictionary is read beforehand, up to what is damaged, which
 * is found again; or to the end of a file that still grows.
 */
static void read_ahead(struct playback *playback)
{
	struct source_blocks *source = &playback->source;
	struct block_head head;
	int err = 0;

	if (!source->can_seek)
		return;
	if (is_in_part(playback))
		source_blocks_use_index(source);
	while (!err && !playback->damaged) {
		err = source_blocks_skip(source, is_dictionary, NULL);
		if (err || source_blocks_next(source, &head) <= 0)
			break;
		err = read_dictionary_block(playback, &head);
	}
	playback->damaged = false;
	if (!source_blocks_again(source))
		playback->read_ahead = source->at;
}

static void set_part(struct playback *playback)
{
	const struct playback_options *options = &playback->options;
	const uint64_t start = playback->source.head.start;

	playback->since = options->since ? start + options->since : 0;
	playback->until = options->until ? start + options->until : UINT64_MAX;
	playback->counts.first_time = start;
	playback->counts.last_time = start;
}

struct playback_end playback_run(struct playback *playback, int fd)
{
	struct playback_end end = {
		.error = source_blocks_open(&playback->source, fd),
	};

	if (end.error) {
		end.offset = playback->source.at;
		end.problem = playback->source.problem;
		return end;
	}
	set_part(playback);
	read_ahead(playback);
	end = play_blocks(playback);
	end_all(playback, playback->counts.last_time < playback->until ?
				  playback->counts.last_time :
				  playback->until);
	tell_over(playback);
	return end;
}
