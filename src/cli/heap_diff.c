/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/heap_diff.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/doing.h"
#include "cli/complain.h"
#include "cli/session.h"
#include "cli/working.h"
#include "report/file/whole_file.h"
#include "report/heap/diff.h"

static int read_profile(const char *path, struct profile **ret)
{
	const char *why;
	int err;

	working_begin(-1, "reading %s", path);
	err = profile_read(path, ret, &why);
	return err ? complain(err, "%s can't be read: %s", path,
			      why ? why : strerror(-err)) :
		     0;
}

/* A pipe that nobody reads is told as any other file; only the table, which
   `head' may have seen enough of, ends in silence. */
static int write_file(const char *path, const struct strbuf *text)
{
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);
	int err;

	doing("writing %s", path);
	err = whole_file_write(path, text->text, text->length, false);

	signal(SIGPIPE, old);
	return err ? complain(err, "%s can't be written: %s", path,
			      strerror(-err)) :
		     0;
}

/* What goes wrong with one file doesn't keep the other. */
static int write_files(struct heap_diff *diff, const struct options *options)
{
	CLEANUP(strbuf_fini) struct strbuf folded = { 0 };
	CLEANUP(strbuf_fini) struct strbuf picture = { 0 };
	CLEANUP(strbuf_fini) struct strbuf page = { 0 };
	int err = 0, unwritten = 0, paged = 0;

	if (options->export.files[HEAP_FILE_FOLDED]) {
		heap_diff_fold(diff, &folded);
		unwritten = write_file(options->export.files[HEAP_FILE_FOLDED],
				       &folded);
	}
	if (options->export.files[HEAP_FILE_SVG]) {
		heap_diff_draw(diff, options->command[0], options->command[1],
			       &picture);
		err = write_file(options->export.files[HEAP_FILE_SVG],
				 &picture);
	}
	if (options->export.files[HEAP_FILE_HTML]) {
		heap_diff_make_page(diff, options->command[0],
				    options->command[1], &page);
		paged = write_file(options->export.files[HEAP_FILE_HTML],
				   &page);
	}
	return unwritten ? unwritten : err ? err : paged;
}

static int print(struct heap_diff *diff, const struct options *options,
		 const struct profile *before, const struct profile *now)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	heap_diff_add_profile("before", options->command[0], before, &out);
	heap_diff_add_profile("now", options->command[1], now, &out);
	heap_diff_print(diff, options->report.top, &out);
	working_end();
	if (fwrite(out.text, 1, out.length, stdout) != out.length ||
	    fflush(stdout))
		return complain(-errno, "the table can't be written: %s",
				strerror(errno));
	return 0;
}

/* Profiles of others, and of growth, have only what is in use and was
   allocated. */
static int check_told(const struct options *options,
		      const struct profile *profile, const char *path)
{
	if (heap_diff_is_told(profile, options->export.value))
		return 0;
	return complain(-EINVAL,
			"%s doesn't tell what was held at the peak, or was "
			"temporary: files of calltrap heap --pprof do",
			path);
}

static int check_components(const struct options *options,
			    const struct profile *profile, const char *path)
{
	if (options->diff_by != HEAP_DIFF_BY_COMPONENT ||
	    profile_has_components(profile))
		return 0;
	return complain(-EINVAL,
			"--by component: %s was written without --components",
			path);
}

/* Stacks and pictures are of stacks, whatever a row of the table is. */
static int write_stacks(const struct options *options, struct profile *before,
			struct profile *now)
{
	struct heap_diff *diff = heap_diff_new(before, now,
					       options->export.value,
					       HEAP_DIFF_BY_STACK);
	int err = write_files(diff, options);

	heap_diff_free(diff);
	return err;
}

static int compare(const struct options *options, struct profile *before,
		   struct profile *now)
{
	struct heap_diff *diff;
	int unwritten, err;

	doing("comparing %s and %s", options->command[0], options->command[1]);
	diff = heap_diff_new(before, now, options->export.value,
			     options->diff_by);
	if (!diff)
		return complain(-EINVAL,
				"%s and %s can't be compared: each is "
				"of a heap, or of one kind of growth, and "
				"these are not the same",
				options->command[0], options->command[1]);
	unwritten = diff->by == HEAP_DIFF_BY_STACK ?
			    write_files(diff, options) :
			    write_stacks(options, before, now);
	err = print(diff, options, before, now);
	heap_diff_free(diff);
	return err ? err : unwritten;
}

int heap_diff_run(const struct options *options)
{
	struct profile *before = NULL, *now = NULL;
	int err = read_profile(options->command[0], &before);

	if (!err)
		err = read_profile(options->command[1], &now);
	if (!err)
		err = check_told(options, before, options->command[0]);
	if (!err)
		err = check_told(options, now, options->command[1]);
	if (!err)
		err = check_components(options, before, options->command[0]);
	if (!err)
		err = check_components(options, now, options->command[1]);
	if (!err)
		err = compare(options, before, now);
	profile_free(before);
	profile_free(now);
	return err ? EXIT_NOTHING_TRACED : 0;
}
