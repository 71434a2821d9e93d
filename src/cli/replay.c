/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doing.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/heap_from.h"
#include "cli/session.h"
#include "cli/working.h"
#include "recording/playback.h"
#include "replay/comparison.h"
#include "replay/launch.h"
#include "report/file/whole_file.h"
#include "report/format/json_put.h"

#define RUNS_DEFAULT 3

/* ---- the plan ---- */

static void on_ended(void *context UNUSED, const struct watched *process UNUSED,
		     const struct heap_cost *cost UNUSED)
{
}

static int play(const struct options *options, int fd, struct planner *planner)
{
	struct families *families = families_new();
	struct stacks *stacks = stacks_new();
	struct playback *playback = playback_new(&(struct playback_options){
		.stacks = stacks,
		.families = families,
		.since = options->since,
		.until = options->until,
		.observer = planner_observer(planner),
		.ended = on_ended,
	});
	struct playback_end end;
	uint64_t dropped;
	int err;

	working_begin(fd, "reading %s", options->command[0]);
	end = playback_run(playback, fd);
	working_begin(-1, "making a plan of it");
	dropped = playback_counts(playback).dropped;
	err = heap_from_tell_end(options->command[0], &end);
	heap_from_tell_dropped(options->command[0], dropped);
	playback_free(playback);
	stacks_free(stacks);
	families_free(families);
	return err;
}

static struct plan_manner manner_of(const struct options *options)
{
	return (struct plan_manner){ .touch = options->touch == TOUCH_ALL,
				     .paced = options->pace };
}

static int take_plan(const struct options *options, struct planner *planner,
		     int *plan_ret, struct plan_counts *counts_ret)
{
	const char *path = options->command[0];
	const struct plan_manner manner = manner_of(options);
	int err = planner_take(planner, &manner, plan_ret, counts_ret);

	switch (err) {
	case 0:
		return 0;
	case -ENODATA:
		return complain(err,
				"%s: has no calls of an allocator, or "
				"none that can be replayed",
				path);
	case -EFBIG:
		return complain(err,
				"%s: has too many calls for one replay; "
				"take a part (--since, --until)",
				path);
	}
	return complain(err, "the plan of the replay can't be kept: %s",
			strerror(-err));
}

static int make_plan(const struct options *options, int *plan_ret,
		     struct plan_counts *counts_ret)
{
	const char *path = options->command[0];
	struct planner *planner;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return complain(-errno, "%s can't be read: %s", path,
				strerror(errno));
	planner = planner_new();
	err = play(options, fd, planner);
	if (!err)
		err = take_plan(options, planner, plan_ret, counts_ret);
	planner_free(planner);
	return err;
}

/* ---- allocators ---- */

/* LD_PRELOAD can't name every file. */
static int find_file(const char *with, const char **file_ret)
{
	char path[PATH_MAX];

	*file_ret = "";
	if (!strcmp(with, "libc"))
		return 0;
	if (!realpath(with, path)) {
		if (strchr(with, '/'))
			return complain(-errno, "--with %s: can't be read: %s",
					with, strerror(errno));
		strncpy(path, with, sizeof(path) - 1);
		path[sizeof(path) - 1] = 0;
	}
	if (strpbrk(path, " :$"))
		return complain(-EINVAL,
				"--with %s: a file with a blank, ':' "
				"or '$' in its path can't be preloaded",
				with);
	*file_ret = xstrdup(path);
	return 0;
}

static void add_candidate(struct comparison *all, const char *file)
{
	struct candidate *own;

	for (size_t i = 0; i < all->count; i++) {
		if (!strcmp(all->candidates[i].file, file)) {
			if (*file)
				free((char *)file);
			return;
		}
	}
	own = &all->candidates[all->count++];
	own->file = file;
	own->name = *file ? file_base_name(file) : "libc";
	own->results = xcalloc(all->runs, sizeof(*own->results));
}

/* The C library's is what others are compared with. */
static int find_candidates(char **with, struct comparison *all)
{
	size_t count = 0;
	int err = 0;

	while (with && with[count])
		count++;
	all->candidates = xcalloc(count + 1, sizeof(*all->candidates));
	add_candidate(all, "");
	for (size_t i = 0; i < count && !err; i++) {
		const char *file;

		err = find_file(with[i], &file);
		if (!err)
			add_candidate(all, file);
	}
	return err;
}

static void comparison_fini(struct comparison *all)
{
	for (size_t i = 0; i < all->count; i++) {
		if (*all->candidates[i].file)
			free((char *)all->candidates[i].file);
		free(all->candidates[i].results);
	}
	free(all->candidates);
}

/* ---- runs ---- */

static int launch(const struct candidate *own, int plan, bool check_only,
		  struct replay_result *ret)
{
	int err = launch_plan(plan, own->file, check_only, ret);

	if (err)
		complain(err, "%s: can't be tried: %s",
			 *own->file ? own->file : own->name,
			 *ret->problem ? ret->problem : strerror(-err));
	return err;
}

/* What is wrong with one is found before the first takes its time; and each
   has its turn before the next round, lest one has all of a bad moment. */
static int run_all(struct comparison *all, int plan)
{
	struct replay_result result;

	for (size_t i = 0; i < all->count; i++) {
		doing("trying %s", all->candidates[i].name);
		if (launch(&all->candidates[i], plan, true, &result))
			return -ECHILD;
	}
	for (unsigned run = 0; run < all->runs; run++)
		for (size_t i = 0; i < all->count; i++) {
			doing("round %u of %u, with %s", run + 1, all->runs,
			      all->candidates[i].name);
			if (launch(&all->candidates[i], plan, false,
				   &all->candidates[i].results[run]))
				return -ECHILD;
		}
	return 0;
}

/* ---- what has come of it ---- */

static int write_file(const char *path, const struct strbuf *text)
{
	int err = whole_file_write(path, text->text, text->length, false);

	return err ? complain(err, "%s can't be written: %s", path,
			      strerror(-err)) :
		     0;
}

static int write_text(const struct options *options,
		      const struct comparison *all)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	comparison_print(all, &text);
	if (options->report.path)
		return write_file(options->report.path, &text);
	if (fwrite(text.text, 1, text.length, stdout) != text.length ||
	    fflush(stdout))
		return complain(-errno, "the report can't be written: %s",
				strerror(errno));
	return 0;
}

static int write_json(const struct options *options,
		      const struct comparison *all)
{
	const char *path = options->export.files[HEAP_FILE_JSON];
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	json_t *root;

	if (!path)
		return 0;
	root = comparison_json(all);
	json_put(root, JSON_INDENT(1), &text);
	json_decref(root);
	strbuf_putc(&text, '\n');
	return write_file(path, &text);
}

int replay_run(const struct options *options)
{
	struct comparison all = {
		.recording = options->command[0],
		.manner = manner_of(options),
		.runs = options->runs ? options->runs : RUNS_DEFAULT,
	};
	int plan = -1;
	int err = find_candidates(options->with, &all);

	if (!err)
		err = make_plan(options, &plan, &all.counts);
	if (!err)
		err = run_all(&all, plan);
	working_end();
	if (!err)
		err = write_json(options, &all) | write_text(options, &all);
	if (plan >= 0)
		close(plan);
	comparison_fini(&all);
	return err ? EXIT_NOTHING_TRACED : 0;
}
