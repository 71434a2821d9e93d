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
#include "cli/file_names.h"
#include "cli/heap_verb.h"
#include "cli/outputs.h"
#include "cli/working.h"
#include "recording/playback.h"
#include "report/file/own_descriptor.h"

/* What is read. */
struct heap_from {
	struct options options; /* names of files change */
	const char *path;       /* the recording that is read … */
	int fd;
	bool taken;    /* who plays it closes it */
	size_t number; /* … is the first, second, … */
	struct told_process *told;
	size_t told_count, told_room;
};

struct told_process {
	pid_t pid;
	size_t number; /* of its recording */
};

/* What goes to standard output may be shown where the line is. */
static void begin_reading(const struct heap_verb *verb)
{
	const struct options *options = verb->session->options;
	const struct heap_from *from = verb->from;

	if (!options->converted)
		working_begin(from->fd, "reading %s", from->path);
	else if (strcmp(options->converted, "/dev/stdout") != 0)
		working_begin(from->fd, "converting to %s", options->converted);
	else if (!isatty(STDOUT_FILENO))
		working_begin(from->fd, "converting");
}

/* Each of several processes gets files of its own. */
static void on_read(void *context, bool several)
{
	const struct heap_verb *verb = context;
	struct options *options = &verb->from->options;

	if (!options->converted && (several || options->from[1]))
		file_names_add_process(options);
}

/* Processes of different recordings may have one number, and so one name of a
   file. */
static void tell_replaced(struct heap_from *from, pid_t pid)
{
	bool replaced = false;

	for (size_t i = 0; i < from->told_count; i++)
		replaced |= from->told[i].pid == pid &&
			    from->told[i].number != from->number;
	if (replaced && heap_export_is_wanted(&from->options.export))
		complain(0,
			 "%s: its process %d has the number of one of another "
			 "recording; files of that one are replaced",
			 from->path, (int)pid);
	from->told = xgrow(from->told, from->told_count, &from->told_room,
			   sizeof(*from->told));
	from->told[from->told_count++] =
		(struct told_process){ pid, from->number };
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
	tell_replaced(verb->from, process->pid);
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

static int play(struct heap_verb *verb, struct act_observer *observer)
{
	struct heap_from *from = verb->from;
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
		.read = on_read,
		.ended = on_ended,
		.context = verb,
	});
	struct playback_counts counts;
	struct playback_end end;
	int err;

	begin_reading(verb);
	from->taken = true;
	end = playback_run(playback, from->fd);
	working_end();
	counts = playback_counts(playback);
	err = heap_from_tell_end(from->path, &end);
	heap_from_tell_dropped(from->path, counts.dropped);
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

static int play_to_csv(struct heap_verb *verb)
{
	const char *path = verb->session->options->converted;
	const struct recording_head head = head_of(verb->from->fd);
	FILE *file = open_output(path);
	struct act_csv *csv;
	int err;

	if (!file)
		return unwritten(path);
	csv = act_csv_new(file, verb->session->stacks, head.start);
	err = play(verb, act_csv_observer(csv));
	act_csv_free(csv);
	if (ferror(file) | fclose(file) && !err)
		err = unwritten(path);
	return err;
}

static int play_to_stats(struct heap_verb *verb)
{
	const char *path = verb->session->options->converted;
	FILE *file = open_output(path);
	int err;

	if (!file)
		return unwritten(path);
	verb->stats = act_stats_new(verb->session->stacks, verb->namer);
	err = play(verb, act_stats_observer(verb->stats));
	fwrite(strbuf_text(&verb->stats_text), 1, verb->stats_text.length,
	       file);
	if (ferror(file) | fclose(file))
		err = unwritten(path);
	act_stats_free(verb->stats);
	strbuf_fini(&verb->stats_text);
	return err;
}

static int play_to_reports(struct heap_verb *verb)
{
	struct sink *sink;
	int err = heap_verb_open_journal(verb);

	if (err)
		return err;
	err = play(verb,
		   verb->journal ? heap_journal_observer(verb->journal) : NULL);
	if (verb->journal) {
		sink = heap_journal_sink(verb->journal);
		(void)sinks_finish(sink);
		sinks_free(sink);
	}
	return err;
}

static int play_one(struct heap_verb *verb)
{
	const struct recording_head head = head_of(verb->from->fd);

	verb->config.wall_offset = head.wall - head.start;
	heap_report_set_wall(verb->report, verb->config.wall_offset);
	if (verb->session->options->convert == CONVERT_CSV)
		return play_to_csv(verb);
	if (verb->session->options->convert == CONVERT_STATS)
		return play_to_stats(verb);
	return play_to_reports(verb);
}

/* Opened before any is read: it may take long. Their number, or that they
   can't be. */
static int open_all(char *const *paths, int **fds_ret)
{
	int *fds = NULL, count = 0;

	for (; paths[count]; count++) {
		fds = xreallocarray(fds, count + 1, sizeof(*fds));
		fds[count] = open(paths[count], O_RDONLY | O_CLOEXEC);
		if (fds[count] < 0)
			break;
	}
	*fds_ret = fds;
	if (!paths[count])
		return count;
	complain(-errno, "%s can't be read: %s", paths[count], strerror(errno));
	while (count--)
		close(fds[count]);
	return -ENOENT;
}

static int play_all(struct heap_verb *verb, const int *fds, size_t count)
{
	struct heap_from *from = verb->from;
	int err = heap_verb_open_reports(verb);

	for (size_t i = 0; i < count; i++) {
		from->path = from->options.from[i];
		from->fd = fds[i];
		from->number = i + 1;
		from->taken = false;
		if (!err)
			err = play_one(verb);
		if (!from->taken)
			close(fds[i]);
	}
	if (!err) {
		heap_verb_finish_reports(verb);
		err = verb->error;
	}
	return err;
}

/* The exit status. */
static int read_all(struct heap_from *from, const int *fds, size_t count)
{
	struct session session = {
		.options = &from->options,
		.debuginfo = debuginfo_new(),
		.stacks = stacks_new(),
	};
	struct heap_verb *verb = xcalloc(1, sizeof(*verb));
	int err;

	verb->session = &session;
	verb->from = from;
	verb->families = families_new();
	err = play_all(verb, fds, count);
	heap_verb_free(verb);
	stacks_free(session.stacks);
	debuginfo_free(session.debuginfo);
	if (err || session.unwritten)
		return EXIT_NOTHING_TRACED;
	return session.leaks ? (int)from->options.leak_status : 0;
}

int heap_from_run(const struct options *options)
{
	struct heap_from from = { .options = *options };
	int *fds CLEANUP(xfree_cleanup) = NULL;
	int count = open_all(options->from, &fds), status;

	if (count < 0)
		return EXIT_NOTHING_TRACED;
	if (outputs_try(options)) {
		while (count--)
			close(fds[count]);
		return EXIT_UNWRITTEN;
	}
	status = read_all(&from, fds, count);
	file_names_fini(&from.options);
	free(from.told);
	return status;
}
