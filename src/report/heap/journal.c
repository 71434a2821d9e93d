/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/journal.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "report/heap/footprint.h"

struct heap_journal {
	struct sink sink;
	struct act_observer observer;
	struct heap_journal_options options;
	struct heap_calls *calls;         /* or NULL */
	struct heap_footprint *footprint; /* or NULL */
};

static void tell(const struct heap_journal *journal, const char *path, int err)
{
	if (err)
		journal->options.told(journal->options.context, path, err);
}

static void tell_calls(const struct heap_journal *journal, int err)
{
	tell(journal, journal->options.calls.path, err);
}

/* ---- acts ---- */

/* A replay, and who reads what is held, have no use for it. */
static bool is_unkept_acquisition(const struct heap_act *act)
{
	return act->unkept && (act->function->act == FAMILY_ACQUIRE ||
			       act->function->act == FAMILY_REPLACE);
}

static struct heap_journal *journal_of(struct act_observer *observer)
{
	return (struct heap_journal *)((char *)observer -
				       offsetof(struct heap_journal, observer));
}

static uint64_t on_taken(struct act_observer *observer,
			 const struct observed_act *act)
{
	struct heap_journal *journal = journal_of(observer);
	struct act_observer *next = journal->options.next;

	if (next)
		(void)next->ops->taken(next, act);
	return journal->footprint ?
		       heap_footprint_taken(journal->footprint, act) :
		       0;
}

static void on_ended(struct act_observer *observer,
		     const struct observed_act *act)
{
	struct heap_journal *journal = journal_of(observer);
	struct act_observer *next = journal->options.next;

	if (next)
		next->ops->ended(next, act);
	if (is_unkept_acquisition(act->act))
		return;
	if (journal->footprint)
		heap_footprint_ended(journal->footprint, act);
	if (journal->calls)
		tell_calls(journal, heap_calls_add(journal->calls, act,
						   HEAP_CALL_RETURNED));
}

static void on_abandoned(struct act_observer *observer,
			 const struct observed_act *act)
{
	struct heap_journal *journal = journal_of(observer);
	struct act_observer *next = journal->options.next;

	if (next)
		next->ops->abandoned(next, act);
	if (journal->footprint)
		heap_footprint_abandoned(journal->footprint, act);
	if (journal->calls)
		tell_calls(journal, heap_calls_add(journal->calls, act,
						   HEAP_CALL_UNFINISHED));
}

static void on_news(struct act_observer *observer,
		    const struct watched *process, enum watch_news news,
		    uint64_t since, uint64_t now)
{
	struct act_observer *next = journal_of(observer)->options.next;

	if (next && next->ops->news)
		next->ops->news(next, process, news, since, now);
}

static const struct act_observer_ops observer_ops = {
	.taken = on_taken,
	.ended = on_ended,
	.abandoned = on_abandoned,
	.news = on_news,
};

/* ---- the sink: that nothing can be written is no reason to leave ---- */

static int on_event(struct sink *sink UNUSED, const struct event *event UNUSED)
{
	return 0;
}

static int on_wholes(struct sink *sink UNUSED,
		     const struct whole_call *calls UNUSED, size_t count UNUSED)
{
	return 0;
}

static int on_flush(struct sink *sink)
{
	struct heap_journal *journal = (struct heap_journal *)sink;

	if (journal->calls)
		tell_calls(journal, heap_calls_flush(journal->calls));
	return 0;
}

static void on_free(struct sink *sink)
{
	struct heap_journal *journal = (struct heap_journal *)sink;

	heap_calls_free(journal->calls);
	heap_footprint_free(journal->footprint);
	free(journal);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.wholes = on_wholes,
	.flush = on_flush,
	.finish = on_flush,
	.free = on_free,
};

/* ---- */

static int open_files(struct heap_journal *journal)
{
	const struct heap_journal_options *options = &journal->options;
	const char *path = options->calls.path;
	int err = 0;

	if (path)
		err = heap_calls_new(&options->calls, &journal->calls);
	if (!err && options->footprint) {
		path = options->footprint;
		err = heap_footprint_new(path, &journal->footprint);
	}
	tell(journal, path, err);
	return err;
}

int heap_journal_new(const struct heap_journal_options *options,
		     struct heap_journal **ret)
{
	struct heap_journal *journal = xcalloc(1, sizeof(*journal));
	int err;

	journal->sink.ops = &sink_ops;
	journal->observer.ops = &observer_ops;
	journal->options = *options;
	err = open_files(journal);
	if (err)
		on_free(&journal->sink);
	else
		*ret = journal;
	return err;
}

struct act_observer *heap_journal_observer(struct heap_journal *journal)
{
	return &journal->observer;
}

struct sink *heap_journal_sink(struct heap_journal *journal)
{
	return &journal->sink;
}

void heap_journal_close(struct heap_journal *journal, pid_t pid)
{
	if (journal->calls)
		tell_calls(journal, heap_calls_close(journal->calls, pid));
	if (journal->footprint)
		tell(journal, journal->options.footprint,
		     heap_footprint_close(journal->footprint, pid));
}
