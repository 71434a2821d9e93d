/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_from.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/heap_verb.h"
#include "cli/outputs.h"
#include "cli/working.h"
#include "recording/playback.h"
#include "report/file/own_descriptor.h"

/* What goes to standard output may be shown where the line is. */
static void begin_reading(const struct heap_verb *verb)
{
	const struct options *options = verb->session->options;

	if (!options->converted)
		working_begin(verb->from, "reading %s", options->from);
	else if (strcmp(options->converted, "/dev/stdout") != 0)
		working_begin(verb->from, "converting to %s",
			      options->converted);
	else if (!isatty(STDOUT_FILENO))
		working_begin(verb->from, "converting");
}

static void on_ended(void *context, const struct watched *process,
		     const struct heap_cost *cost)
{
	struct heap_verb *verb = context;

	if (verb->journal)
		heap_journal_close(verb->journal, process->pid);
	if (process->state == WATCHED_REPLACED && !process->calls)
		return;
	if (verb->stats)
		act_stats_print(verb->stats, process, &verb->stats_text);
	heap_verb_report(verb, process, cost,
			 heap_time(process->heap, process->end));
	begin_reading(verb);
}

/* A file that ends early has said what it could; one that is damaged hasn't. */
int heap_from_tell_end(const char *path, const struct playback_end *end)
{
	switch (end->error) {
	case 0:
		return 0;
	case -ENODATA:
		complain(0,
			 "%s: ends early, at byte %" PRIu64 ": it was cut, "
			 "or is still being written; this is what is there",
			 path, end->offset);
		return 0;
	case -EBADMSG:
		return complain(end->error, "%s: byte %" PRIu64 ": %s", path,
				end->offset, end->problem);
	}
	return complain(end->error, "%s can't be read: %s", path,
			strerror(-end->error));
}

void heap_from_tell_dropped(const char *path, uint64_t events)
{
	if (events)
		complain(0,
			 "%s: %" PRIu64 " %s missing: dropped when it was "
			 "written",
			 path, events, events == 1 ? "event is" : "events are");
}

static int play(struct heap_verb *verb, int fd, struct act_observer *observer)
{
	const struct options *options = verb->session->options;
	struct playback *playback = playback_new(&(struct playback_options){
		.stacks = verb->session->stacks,
		.families = verb->families,
		.namer = verb->namer,
		.since = options->since,
		.until = options->until,
		.timeline = heap_export_needs_timeline(&options->export),
		.sample = options->sample,
		.seed = clock_now(),
		.component = verb->components ? heap_verb_component : NULL,
		.observer = observer,
		.ended = on_ended,
		.context = verb,
	});
	struct playback_counts counts;
	struct playback_end end;
	int err;

	verb->from = fd;
	begin_reading(verb);
	end = playback_run(playback, fd);
	working_end();
	counts = playback_counts(playback);
	err = heap_from_tell_end(options->from, &end);
	heap_from_tell_dropped(options->from, counts.dropped);
	playback_free(playback);
	return err ? err : verb->error;
}

/* Zeroed when it can't be had before all is read. */
static struct recording_head head_of(int fd)
{
	uint8_t bytes[RECORDING_HEAD_SIZE];
	struct recording_head head = { 0 };

	if (pread(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
	    recording_head_parse(bytes, &head))
		return (struct recording_head){ 0 };
	return head;
}

static int unwritten(const char *path)
{
	return complain(-errno, "%s can't be written: %s", path,
			strerror(errno));
}

static FILE *open_output(const char *path)
{
	int fd = own_descriptor(path);

	if (fd == -ENOENT)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	else if (fd < 0)
		errno = -fd;
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int play_to_csv(struct heap_verb *verb, int fd)
{
	const char *path = verb->session->options->converted;
	FILE *file = open_output(path);
	struct act_csv *csv;
	int err;

	if (!file) {
		err = unwritten(path);
		close(fd);
		return err;
	}
	csv = act_csv_new(file, verb->session->stacks, head_of(fd).start);
	err = play(verb, fd, act_csv_observer(csv));
	act_csv_free(csv);
	if (ferror(file) | fclose(file) && !err)
		err = unwritten(path);
	return err;
}

static int play_to_stats(struct heap_verb *verb, int fd)
{
	const char *path = verb->session->options->converted;
	FILE *file = open_output(path);
	int err;

	if (!file) {
		err = unwritten(path);
		close(fd);
		return err;
	}
	verb->stats = act_stats_new(verb->session->stacks, verb->namer);
	err = play(verb, fd, act_stats_observer(verb->stats));
	fwrite(strbuf_text(&verb->stats_text), 1, verb->stats_text.length,
	       file);
	if (ferror(file) | fclose(file))
		err = unwritten(path);
	act_stats_free(verb->stats);
	strbuf_fini(&verb->stats_text);
	return err;
}

static int open_and_play(struct heap_verb *verb, int fd)
{
	const struct recording_head head = head_of(fd);
	int err;

	/* Reports are told what they have to add when they are opened. */
	verb->config.wall_offset = head.wall - head.start;
	err = heap_verb_open_reports(verb);
	if (!err)
		err = heap_verb_open_journal(verb);
	if (err) {
		close(fd);
		return err;
	}
	if (verb->session->options->convert == CONVERT_CSV)
		err = play_to_csv(verb, fd);
	else if (verb->session->options->convert == CONVERT_STATS)
		err = play_to_stats(verb, fd);
	else
		err = play(verb, fd,
			   verb->journal ?
				   heap_journal_observer(verb->journal) :
				   NULL);
	if (!err) {
		heap_verb_finish_reports(verb);
		err = verb->error;
	}
	if (verb->journal) {
		struct sink *sink = heap_journal_sink(verb->journal);

		(void)sinks_finish(sink);
		sinks_free(sink);
	}
	return err;
}

int heap_from_run(const struct options *options)
{
	struct session session = { .options = options };
	struct heap_verb *verb;
	int err, fd;

	fd = open(options->from, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		complain(-errno, "%s can't be read: %s", options->from,
			 strerror(errno));
		return EXIT_NOTHING_TRACED;
	}
	err = outputs_try(options);
	if (err) {
		close(fd);
		return EXIT_UNWRITTEN;
	}
	verb = xcalloc(1, sizeof(*verb));
	verb->session = &session;
	session.debuginfo = debuginfo_new();
	session.stacks = stacks_new();
	verb->families = families_new();
	err = open_and_play(verb, fd);
	heap_verb_free(verb);
	stacks_free(session.stacks);
	debuginfo_free(session.debuginfo);
	if (err || session.unwritten)
		return EXIT_NOTHING_TRACED;
	return session.leaks ? (int)options->leak_status : 0;
}
