/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/outputs.h"
#include "cli/session.h"
#include "memory/leaks.h"
#include "memory/view.h"
#include "report/file/path_pattern.h"
#include "report/file/whole_file.h"
#include "report/format/json_put.h"
#include "report/usage/holders_text.h"
#include "report/usage/json.h"
#include "report/usage/leaks_text.h"
#include "report/usage/text.h"

/* The verb memory: where the memory of a process is, without watching it. */

static int write_file(const char *path, pid_t pid, const char *text,
		      size_t length)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	int err;

	path_pattern_expand(path, pid, &name);
	err = whole_file_write(strbuf_text(&name), text, length, false);
	return err ? complain(err, "%s can't be written: %s",
			      strbuf_text(&name), strerror(-err)) :
		     0;
}

static int write_json(const struct options *options, pid_t pid, json_t *root)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	json_put(root, JSON_INDENT(1), &text);
	json_decref(root);
	return write_file(options->export.files[HEAP_FILE_JSON], pid,
			  strbuf_text(&text), text.length);
}

static int print(const struct options *options, pid_t pid,
		 const struct strbuf *out)
{
	if (options->report.path)
		return write_file(options->report.path, pid, out->text,
				  out->length);
	if (fwrite(out->text, 1, out->length, stdout) != out->length ||
	    fflush(stdout))
		return complain(-errno, "the report can't be written: %s",
				strerror(errno));
	return 0;
}

/* Whoever ends us in the middle of a pause would leave waits interrupted. */
static sigset_t block_signals(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	return old;
}

static int show_view(const struct options *options, pid_t pid,
		     char **message_ret)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const sigset_t old = block_signals();
	struct memory_view view;
	int err = memory_view_read(pid, options->freeze != FREEZE_NONE, &view,
				   message_ret);
	int unwritten = 0;

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		return EXIT_NOTHING_TRACED;
	if (options->export.files[HEAP_FILE_JSON])
		unwritten = write_json(options, pid, memory_json(&view));
	memory_text(&view, options->report.top, &out);
	err = print(options, pid, &out);
	memory_view_fini(&view);
	return err || unwritten ? EXIT_UNWRITTEN : 0;
}

static int find_leaks(const struct options *options, pid_t pid,
		      struct leaks *ret, char **message_ret)
{
	const struct leaks_options how = {
		.ways = options->holders != NULL,
		.copy = options->freeze == FREEZE_CLONE,
	};
	int err = leaks_find(pid, &how, ret, message_ret);

	if (!err && ret->zombie)
		complain(0,
			 "process %d has a copy of itself among its "
			 "children that has ended, and that couldn't be "
			 "reaped",
			 (int)pid);
	return err;
}

static int show_leaks(const struct options *options, pid_t pid,
		      char **message_ret)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const sigset_t old = block_signals();
	struct leaks leaks;
	int err = find_leaks(options, pid, &leaks, message_ret);
	int unwritten = 0;

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		return EXIT_NOTHING_TRACED;
	if (options->export.files[HEAP_FILE_JSON])
		unwritten = write_json(options, pid, leaks_json(&leaks));
	leaks_text(&leaks, options->report.top, &out);
	err = print(options, pid, &out);
	leaks_fini(&leaks);
	return err || unwritten ? EXIT_UNWRITTEN : 0;
}

static int show_holders(const struct options *options, pid_t pid,
			char **message_ret)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const sigset_t old = block_signals();
	struct holders holders;
	struct leaks leaks;
	int err = find_leaks(options, pid, &leaks, message_ret);
	int unwritten = 0;

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		return EXIT_NOTHING_TRACED;
	err = holders_find(&leaks, options->holders, &holders);
	if (err)
		*message_ret = xasprintf(
			"--holders '%s': process %d has no such block in use: "
			"an address (0x...) or the name of a class with a "
			"virtual table is expected",
			options->holders, (int)pid);
	if (!err && options->export.files[HEAP_FILE_JSON])
		unwritten = write_json(options, pid,
				       holders_json(&leaks, &holders));
	holders_text(&leaks, &holders, options->report.top, &out);
	err = err ? err : print(options, pid, &out);
	holders_fini(&holders);
	leaks_fini(&leaks);
	return err || unwritten ? EXIT_UNWRITTEN : 0;
}

static int show(const struct options *options, pid_t pid)
{
	char *message CLEANUP(xfree_cleanup) = NULL;
	int status = options->holders ? show_holders(options, pid, &message) :
		     options->leaks   ? show_leaks(options, pid, &message) :
					show_view(options, pid, &message);

	if (message)
		complain(0, "%s", message);
	return status;
}

int memory_run(const struct options *options)
{
	int status = 0;

	if (outputs_try(options))
		return EXIT_NOTHING_TRACED;
	for (size_t i = 0; i < options->pid_count; i++) {
		int one = show(options, options->pids[i]);

		status = status ? status : one;
	}
	return status;
}
