/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback_private.h"

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

void play_events(struct playback *playback, const struct decoded *decoded)
{
	for (size_t i = 0; i < decoded->count && !playback->damaged;
	     i += AHEAD) {
		const size_t left = decoded->count - i;

		play_some(playback, decoded->events + i,
			  left < AHEAD ? left : AHEAD);
	}
}
