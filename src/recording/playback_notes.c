/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback_private.h"

#include "recording/numbers.h"

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
		       (struct history_state){
			       .bytes = vitals_resident(&vitals) });
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
	played_end(playback, played);
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

void play_note(struct playback *playback, const struct recorded_event *event)
{
	struct cursor in = cursor_of(event->body, event->body_size);
	struct played *played;

	if (event->note == NOTE_DROPPED) {
		play_dropped(playback, &in);
		return;
	}
	if (event->note > NOTE_HELD_UP)
		return;
	played = played_find(playback, take_varint(&in));
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
