/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "recording/dictionary.h"
#include "recording/events.h"
#include "recording/numbers.h"
#include "report/file/path_pattern.h"

/* A block is full with so many events, bytes, or when its first one is so old:
   what is not in the file yet is lost if calltrap is killed. */
#define EVENTS_MAX (1u << 16)
#define BYTES_MAX  (4u << 20)
#define AGE_MAX    NS_PER_SECOND

struct dropped {
	uint64_t count;        /* of events; 0: none */
	uint64_t since, until; /* their times */
};

struct recorded_file {
	pid_t pid;              /* 0: of all */
	struct sink_file *file; /* NULL: it can't be written */
	struct dictionary dictionary;
	struct event_block block;
	struct recorded_event begun; /* the last entry, which may become one
					event with its return */
	bool has_begun;
	struct dropped dropped; /* what the file doesn't tell of yet */
	struct dropped told;    /* … and what the block tells of that is being
				   filled, and may be dropped itself */
	struct recorder *recorder;
	UT_hash_handle hh;
};

struct recorder {
	struct sink sink;
	struct act_observer observer;
	struct recorder_options options;
	bool per_process;
	struct recorded_file *files;
	int error;
};

/* ---- files ---- */

static void forget(struct recorder *recorder, struct recorded_file *own)
{
	HASH_DEL(recorder->files, own);
	dictionary_fini(&own->dictionary);
	event_block_fini(&own->block);
	free(own);
}

static struct recording_head head_of_now(const struct recorder_options *options)
{
	const uint64_t now = clock_now();

	return (struct recording_head){
		.start = now,
		.wall = options->wall_offset ? now + options->wall_offset :
					       clock_wall(now),
	};
}

static int open_file(struct recorder *recorder, pid_t pid,
		     struct recorded_file **ret)
{
	struct recorded_file *own = xcalloc(1, sizeof(*own));
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const struct recording_head head = head_of_now(&recorder->options);
	bool predictable;
	int err;

	predictable = path_pattern_expand(recorder->options.path, pid, &path);
	own->pid = pid;
	own->recorder = recorder;
	own->dictionary.stacks = recorder->options.stacks;
	err = sink_file_open(strbuf_text(&path), predictable,
			     &recorder->options.policy, &head, &own->file);
	HASH_ADD_INT(recorder->files, pid, own);
	*ret = own;
	return err;
}

static void tell(const struct recorded_file *own,
		 const struct sink_file_counts *counts, int err)
{
	const struct recorder_options *options = &own->recorder->options;
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	path_pattern_expand(options->path, own->pid, &path);
	options->told(options->context, strbuf_text(&path), counts, err);
}

static struct recorded_file *file_of(struct recorder *recorder,
				     const struct watched *process)
{
	pid_t pid = recorder->per_process ? process->pid : 0;
	struct recorded_file *own;
	int err;

	HASH_FIND_INT(recorder->files, &pid, own);
	if (own)
		return own;
	err = open_file(recorder, pid, &own);
	if (err)
		tell(own, NULL, err);
	return own;
}

/* ---- blocks ---- */

static void write_dictionary(struct recorded_file *own)
{
	struct sink_block block = {
		.head = { .kind = BLOCK_DICTIONARY,
			  .count = own->dictionary.count },
		.text = own->dictionary.text,
	};

	own->dictionary.text = (struct strbuf){ 0 };
	own->dictionary.count = 0;
	if (own->file && block.head.count)
		(void)sink_file_add(own->file, &block);
	else
		strbuf_fini(&block.text);
}

static void add_dropped(struct dropped *sum, const struct dropped *more)
{
	if (!more->count)
		return;
	if (!sum->count || more->since < sum->since)
		sum->since = more->since;
	if (!sum->count || more->until > sum->until)
		sum->until = more->until;
	sum->count += more->count;
}

static void count_dropped(struct recorded_file *own,
			  const struct block_head *head)
{
	add_dropped(&own->dropped, &own->told);
	add_dropped(&own->dropped,
		    &(struct dropped){ head->count, head->first_time,
				       head->last_time });
}

static void write_events(struct recorded_file *own)
{
	struct sink_block block = {
		.head = { .kind = BLOCK_EVENTS,
			  .count = own->block.count,
			  .first_time = own->block.first_time,
			  .last_time = own->block.last_time },
	};

	write_dictionary(own);
	if (!own->block.count)
		return;
	event_block_take(&own->block, &block.text);
	if (!own->file)
		strbuf_fini(&block.text);
	else if (!sink_file_add(own->file, &block))
		count_dropped(own, &block.head);
	own->told = (struct dropped){ 0 };
}

/* ---- events ---- */

static void put_at_last(struct recorded_file *own,
			const struct recorded_event *event)
{
	event_block_add(&own->block, event);
	if (own->block.count >= EVENTS_MAX ||
	    event_block_size(&own->block) >= BYTES_MAX)
		write_events(own);
	else if (own->dictionary.text.length >= BYTES_MAX)
		write_dictionary(own);
}

static void put_dropped(struct recorded_file *own)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };
	const struct dropped dropped = own->dropped;

	own->dropped = (struct dropped){ 0 };
	add_dropped(&own->told, &dropped);
	put_varint(&body, dropped.count);
	put_varint(&body, dropped.since);
	put_varint(&body, dropped.until);
	put_at_last(own, &(struct recorded_event){
				 .kind = RECORDED_NOTE,
				 .time = dropped.until,
				 .note = NOTE_DROPPED,
				 .body = (const uint8_t *)body.text,
				 .body_size = body.length });
}

static void put_begun(struct recorded_file *own)
{
	if (own->dropped.count)
		put_dropped(own);
	if (own->has_begun)
		put_at_last(own, &own->begun);
	own->has_begun = false;
}

static void put(struct recorded_file *own, const struct recorded_event *event)
{
	put_begun(own);
	put_at_last(own, event);
}

static void put_note(struct recorded_file *own, enum recorded_note note,
		     uint64_t time, const struct strbuf *body)
{
	put(own, &(struct recorded_event){
			 .kind = RECORDED_NOTE,
			 .time = time,
			 .note = note,
			 .body = (const uint8_t *)strbuf_text(body),
			 .body_size = body->length });
}

/* ---- acts ---- */

static struct recorder *recorder_of(struct act_observer *observer)
{
	return (struct recorder *)((char *)observer -
				   offsetof(struct recorder, observer));
}

static struct recorded_event event_of(struct recorded_file *own,
				      const struct observed_act *told)
{
	const struct heap_act *act = told->act;

	if (!own->dictionary.last[ENTRY_FAMILY])
		dictionary_families(&own->dictionary,
				    own->recorder->options.families,
				    heap_missing(told->process->heap));
	return (struct recorded_event){
		.failed = act->failed,
		.unkept = act->unkept,
		.further = act->is_further,
		.time = act->end,
		.thread = dictionary_thread(&own->dictionary, told->process,
					    act->tid),
		.site = dictionary_site(&own->dictionary, act->function,
					act->stack),
		.handle = act->handle,
		.old = act->old,
		.size = act->size,
		.old_size = act->old_size,
		.count = act->count,
		.item = act->item,
	};
}

/* What gives something back is told when it is entered, too. */
static bool has_entry(const struct heap_act *act)
{
	enum family_act kind = act->function->act;

	return act->call && (kind == FAMILY_RELEASE || kind == FAMILY_RESIZE);
}

static uint64_t on_taken(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct recorded_file *own =
		file_of(recorder_of(observer), told->process);

	if (!has_entry(told->act))
		return 0;
	put_begun(own);
	own->begun = event_of(own, told);
	own->begun.kind = RECORDED_BEGIN;
	own->begun.time = told->entered;
	own->begun.call = told->act->call;
	own->has_begun = true;
	return 0;
}

static bool ends_begun(const struct recorded_file *own,
		       const struct recorded_event *event, uint64_t call)
{
	return own->has_begun && own->begun.call == call &&
	       own->begun.site == event->site &&
	       own->begun.thread == event->thread &&
	       event->time >= own->begun.time && !event->further;
}

static void on_ended(struct act_observer *observer,
		     const struct observed_act *told)
{
	struct recorded_file *own =
		file_of(recorder_of(observer), told->process);
	const struct heap_act *act = told->act;
	struct recorded_event event = event_of(own, told);

	if (!act->end) {
		event.kind = RECORDED_ENTRY;
		event.time = act->begin;
		put(own, &event);
		return;
	}
	event.duration = act->end - act->begin;
	event.correction = act->correction;
	event.kind = RECORDED_RETURN;
	if (has_entry(act) && ends_begun(own, &event, act->call)) {
		event.kind = RECORDED_CALL;
		event.wait = event.time - own->begun.time;
		own->has_begun = false;
	} else if (has_entry(act)) {
		event.kind = RECORDED_END;
		event.call = act->call;
	}
	put(own, &event);
}

static void on_abandoned(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct recorded_file *own =
		file_of(recorder_of(observer), told->process);
	struct recorded_event event = event_of(own, told);

	event.kind = RECORDED_ABANDON;
	event.call = has_entry(told->act) ? told->act->call : 0;
	put(own, &event);
}

static void on_news(struct act_observer *observer,
		    const struct watched *process, enum watch_news news,
		    uint64_t since, uint64_t now)
{
	struct recorded_file *own = file_of(recorder_of(observer), process);
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	dictionary_families(&own->dictionary, own->recorder->options.families,
			    heap_missing(process->heap));
	put_varint(&body, dictionary_process(&own->dictionary, process));
	switch (news) {
	case WATCH_SAMPLED:
		dictionary_rename(&own->dictionary, process);
		sample_note_put(&body, &process->vitals);
		put_note(own, NOTE_SAMPLE, now, &body);
		break;
	case WATCH_SWITCHED:
		put_varint(&body, since);
		put_note(own, NOTE_SWITCH, now, &body);
		break;
	case WATCH_MISSED:
		put_varint(&body, since);
		put_note(own, NOTE_MISSED, now, &body);
		break;
	case WATCH_HELD_UP:
		put_varint(&body, since);
		put_varint(&body, process->held_up.ns);
		put_note(own, NOTE_HELD_UP, now, &body);
		break;
	}
}

static const struct act_observer_ops observer_ops = {
	.taken = on_taken,
	.ended = on_ended,
	.abandoned = on_abandoned,
	.news = on_news,
};

/* ---- the end ---- */

static void write_names(void *context)
{
	write_dictionary(context);
}

static void finish_file(struct recorder *recorder, struct recorded_file *own)
{
	struct sink_file_counts counts;
	int err;

	if (own->file)
		sink_file_wait(own->file);
	put_begun(own);
	write_events(own);
	if (own->file) {
		dictionary_names(&own->dictionary, recorder->options.namer,
				 write_names, own);
		write_dictionary(own);
		err = sink_file_close(own->file, &counts);
		tell(own, &counts, err);
	}
	forget(recorder, own);
}

void recorder_ended(struct recorder *recorder, const struct watched *process,
		    const struct heap_cost *cost)
{
	struct recorded_file *own = file_of(recorder, process);
	CLEANUP(strbuf_fini) struct strbuf end = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint32_t number = dictionary_process(&own->dictionary, process);

	dictionary_families(&own->dictionary, own->recorder->options.families,
			    heap_missing(process->heap));
	dictionary_rename(&own->dictionary, process);
	put_varint(&text, number);
	cost_note_put(&text, cost);
	put_note(own, NOTE_COST, process->end, &text);
	put_varint(&end, number);
	end_note_put(&end, process);
	put_note(own, NOTE_END, process->end, &end);
	/* What it runs next has the same number, so the same file. */
	if (recorder->per_process && process->state != WATCHED_REPLACED)
		finish_file(recorder, own);
}

void recorder_finish(struct recorder *recorder)
{
	struct recorded_file *own, *next;

	HASH_ITER(hh, recorder->files, own, next)
		finish_file(recorder, own);
}

/* ---- the sink ---- */

static int on_event(struct sink *sink UNUSED, const struct event *event UNUSED)
{
	return 0;
}

static int on_wholes(struct sink *sink UNUSED,
		     const struct whole_call *calls UNUSED, size_t count UNUSED)
{
	return 0;
}

static int flush(struct recorded_file *own, uint64_t now)
{
	if (own->has_begun && own->begun.time + AGE_MAX < now)
		put_begun(own);
	if (own->block.count && own->block.first_time + AGE_MAX < now)
		write_events(own);
	return own->file ? sink_file_error(own->file) : 0;
}

static int on_flush(struct sink *sink)
{
	struct recorder *recorder = (struct recorder *)sink;
	struct recorded_file *own, *next;
	uint64_t now = clock_now();

	HASH_ITER(hh, recorder->files, own, next) {
		int err = flush(own, now);

		if (err && !recorder->error)
			recorder->error = err;
	}
	return recorder->error;
}

static int on_finish(struct sink *sink UNUSED)
{
	return 0;
}

static void on_free(struct sink *sink)
{
	struct recorder *recorder = (struct recorder *)sink;

	recorder_finish(recorder);
	free(recorder);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.wholes = on_wholes,
	.flush = on_flush,
	.finish = on_finish,
	.free = on_free,
};

struct act_observer *recorder_observer(struct recorder *recorder)
{
	return &recorder->observer;
}

struct sink *recorder_sink(struct recorder *recorder)
{
	return &recorder->sink;
}

int recorder_new(const struct recorder_options *options, struct recorder **ret)
{
	struct recorder *recorder = xcalloc(1, sizeof(*recorder));
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct recorded_file *own;
	int err = 0;

	recorder->sink.ops = &sink_ops;
	recorder->observer.ops = &observer_ops;
	recorder->options = *options;
	recorder->per_process = path_pattern_expand(options->path, 0, &path);
	/* That it can't be written is better known now than in an hour. */
	if (!recorder->per_process)
		err = open_file(recorder, 0, &own);
	if (err) {
		forget(recorder, own);
		free(recorder);
		return err;
	}
	*ret = recorder;
	return 0;
}
