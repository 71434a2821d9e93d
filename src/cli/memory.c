/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doing.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/outputs.h"
#include "cli/session.h"
#include "cli/working.h"
#include "memory/held.h"
#include "memory/holders.h"
#include "report/file/path_pattern.h"
#include "report/file/whole_file.h"
#include "report/format/json_put.h"
#include "report/usage/difference_text.h"
#include "report/usage/held_flame.h"
#include "report/usage/held_text.h"
#include "report/usage/holders_flame.h"
#include "report/usage/holders_text.h"
#include "report/usage/json.h"
#include "report/usage/leaks_text.h"
#include "report/usage/text.h"
#include "snapshot/difference.h"

/* The verb memory: where the memory of a process is, without watching it. */

/* Longer files of it aren't read. */
#define FILE_MAX (UINT64_C(8) << 30)

static int write_file(const char *path, pid_t pid, const char *text,
		      size_t length)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	int err;

	path_pattern_expand(path, pid, &name);
	doing("writing %s", strbuf_text(&name));
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
	working_end();
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

/* Where nothing is paused, we may be interrupted. */
static sigset_t keep_signals(void)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	return now;
}

/* ---- what is known, as it was asked for ---- */

/* In each form that was asked for. */
struct memory_answer {
	struct strbuf text, folded, svg;
	json_t *json;
};

static bool wants(const struct options *options, enum heap_file file)
{
	return options->export.files[file];
}

static bool write_asked(const struct options *options, enum heap_file file,
			pid_t pid, const struct strbuf *text)
{
	return !wants(options, file) ||
	       !write_file(options->export.files[file], pid, strbuf_text(text),
			   text->length);
}

static int write_answer(const struct options *options, pid_t pid,
			struct memory_answer *answer)
{
	bool whole =
		write_asked(options, HEAP_FILE_FOLDED, pid, &answer->folded);

	whole &= write_asked(options, HEAP_FILE_SVG, pid, &answer->svg);
	if (answer->json)
		whole &= !write_json(options, pid, answer->json);
	whole &= !print(options, pid, &answer->text);
	strbuf_fini(&answer->text);
	strbuf_fini(&answer->folded);
	strbuf_fini(&answer->svg);
	return whole ? 0 : -EIO;
}

static int report_view(const struct options *options,
		       const struct memory_view *view)
{
	struct memory_answer answer = { .json = NULL };

	if (wants(options, HEAP_FILE_JSON))
		answer.json = memory_json(view);
	memory_text(view, options->report.top, &answer.text);
	return write_answer(options, view->pid, &answer);
}

static int report_leaks(const struct options *options,
			const struct leaks *leaks)
{
	struct memory_answer answer = { .json = NULL };

	if (wants(options, HEAP_FILE_JSON))
		answer.json = leaks_json(leaks);
	leaks_text(leaks, options->report.top, &answer.text);
	return write_answer(options, leaks->pid, &answer);
}

static int write_owners(const struct options *options,
			const struct leaks *leaks, const struct held_tree *tree,
			uint64_t wall)
{
	struct memory_answer answer = { .json = NULL };

	if (wants(options, HEAP_FILE_FOLDED))
		held_fold(tree, &answer.folded);
	if (wants(options, HEAP_FILE_SVG))
		held_draw(leaks, tree, wall, &answer.svg);
	if (wants(options, HEAP_FILE_JSON))
		answer.json = held_json(leaks, tree);
	held_text(leaks, tree, options->report.top, &answer.text);
	return write_answer(options, leaks->pid, &answer);
}

static int report_owners(const struct options *options,
			 const struct leaks *leaks, struct block_names *names,
			 uint64_t wall)
{
	struct held_tree tree;
	int err = held_find(leaks, names, &tree);

	if (err)
		return complain(err,
				"process %d has more pointers than can be "
				"counted",
				(int)leaks->pid);
	err = write_owners(options, leaks, &tree, wall);
	held_fini(&tree);
	return err;
}

static int write_holders(const struct options *options,
			 const struct leaks *leaks,
			 const struct holders *holders, uint64_t wall)
{
	struct memory_answer answer = { .json = NULL };

	if (wants(options, HEAP_FILE_FOLDED))
		holders_fold(holders, &answer.folded);
	if (wants(options, HEAP_FILE_SVG))
		holders_draw(leaks, holders, wall, &answer.svg);
	if (wants(options, HEAP_FILE_JSON))
		answer.json = holders_json(leaks, holders);
	holders_text(leaks, holders, options->report.top, &answer.text);
	return write_answer(options, leaks->pid, &answer);
}

static int report_holders(const struct options *options,
			  const struct leaks *leaks, struct block_names *names,
			  const struct owners *owners, uint64_t wall)
{
	struct holders holders;
	int err =
		holders_find(leaks, names, owners, options->holders, &holders);

	if (err)
		complain(err,
			 "--holders '%s': process %d has no such block in "
			 "use: an address (0x...) or the name of a class "
			 "or structure is expected",
			 options->holders, (int)leaks->pid);
	else
		err = write_holders(options, leaks, &holders, wall);
	holders_fini(&holders);
	return err;
}

static int report_snapshot(const struct options *options,
			   const struct snapshot *snapshot)
{
	if (!options->leaks && !options->holders && !options->owners)
		return report_view(options, &snapshot->view);
	if (!snapshot->has_blocks)
		return complain(
			-ENOENT,
			"process %d (%s): no heap of glibc's or "
			"musl's malloc was found, and no other is understood",
			(int)snapshot->view.pid, snapshot->view.name);
	if (options->owners && !snapshot->has_graph)
		return complain(-ENOENT,
				"%s was written by an older calltrap, and "
				"doesn't say in which variables pointers are: "
				"--owners can't be told",
				options->command[0]);
	if (options->owners)
		return report_owners(options, &snapshot->leaks, snapshot->names,
				     snapshot->wall);
	return options->holders ?
		       report_holders(options, &snapshot->leaks,
				      snapshot->names, &snapshot->owners,
				      snapshot->wall) :
		       report_leaks(options, &snapshot->leaks);
}

/* ---- of a process ---- */

static int show_view(const struct options *options, pid_t pid,
		     char **message_ret)
{
	const bool freeze = options->freeze != FREEZE_NONE;
	const sigset_t old = freeze ? block_signals() : keep_signals();
	struct memory_view view;
	int err = memory_view_read(pid, options->touched, freeze, &view,
				   message_ret);

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		return EXIT_NOTHING_TRACED;
	err = report_view(options, &view);
	memory_view_fini(&view);
	return err ? EXIT_UNWRITTEN : 0;
}

static void tell_zombie(const struct leaks *leaks)
{
	if (leaks->zombie)
		complain(0,
			 "process %d has a copy of itself among its "
			 "children that has ended, and that couldn't be "
			 "reaped",
			 (int)leaks->pid);
}

static int find_leaks(const struct options *options, pid_t pid,
		      struct leaks *ret, char **message_ret)
{
	const struct leaks_options how = {
		.ways = options->holders != NULL,
		.objects = options->holders || options->owners,
		.copy = options->freeze == FREEZE_CLONE,
	};
	const sigset_t old = block_signals();
	int err = leaks_find(pid, &how, ret, message_ret);

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!err)
		tell_zombie(ret);
	return err;
}

/* What isn't there is no fault of the report's. */
static int status_of(int err)
{
	return !err ? 0 : err == -ENOENT ? EXIT_NOTHING_TRACED : EXIT_UNWRITTEN;
}

static int show_holders(const struct options *options,
			const struct leaks *leaks, struct block_names *names)
{
	struct owners owners;
	int err;

	owners_find(leaks, &owners);
	err = report_holders(options, leaks, names, &owners,
			     clock_wall(clock_now()));
	owners_fini(&owners);
	return err;
}

static int show_blocks(const struct options *options, pid_t pid,
		       char **message_ret)
{
	struct block_names *names;
	struct leaks leaks;
	int err = find_leaks(options, pid, &leaks, message_ret);

	if (err)
		return EXIT_NOTHING_TRACED;
	names = block_names_new(&leaks);
	err = options->owners  ? report_owners(options, &leaks, names,
					       clock_wall(clock_now())) :
	      options->holders ? show_holders(options, &leaks, names) :
				 report_leaks(options, &leaks);
	block_names_free(names);
	leaks_fini(&leaks);
	return status_of(err);
}

static int save(const struct options *options, pid_t pid, char **message_ret)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	const sigset_t old = block_signals();
	struct snapshot snapshot;
	int err = snapshot_take(pid, options->touched,
				options->freeze == FREEZE_CLONE, &snapshot,
				message_ret);
	int unwritten;

	sigprocmask(SIG_SETMASK, &old, NULL);
	if (err)
		return EXIT_NOTHING_TRACED;
	tell_zombie(&snapshot.leaks);
	snapshot_write(&snapshot, &bytes);
	unwritten =
		write_file(options->snapshot, pid, bytes.text, bytes.length);
	strbuf_fini(&bytes);
	err = report_snapshot(options, &snapshot);
	snapshot_fini(&snapshot);
	return unwritten ? EXIT_UNWRITTEN : status_of(err);
}

static int show(const struct options *options, pid_t pid)
{
	char *message CLEANUP(xfree_cleanup) = NULL;
	int status;

	working_begin(-1, "looking at the memory of process %d", (int)pid);
	status = options->snapshot ? save(options, pid, &message) :
		 options->holders || options->leaks || options->owners ?
				     show_blocks(options, pid, &message) :
				     show_view(options, pid, &message);
	working_end();
	if (message)
		complain(0, "%s", message);
	return status;
}

/* ---- of files ---- */

static int read_snapshot(const char *path, struct snapshot *ret)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	const char *problem;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	working_begin(fd, "reading %s", path);
	if (!err)
		err = strbuf_read(&bytes, fd, FILE_MAX);
	if (fd >= 0)
		close(fd);
	if (err)
		return complain(err, "%s can't be read: %s", path,
				strerror(-err));
	problem = snapshot_read(strbuf_text(&bytes), bytes.length, ret);
	return problem ? complain(-EBADMSG, "%s can't be read: %s", path,
				  problem) :
			 0;
}

static int show_file(const struct options *options)
{
	struct snapshot snapshot;
	int err = read_snapshot(options->command[0], &snapshot);

	if (err)
		return EXIT_NOTHING_TRACED;
	err = report_snapshot(options, &snapshot);
	snapshot_fini(&snapshot);
	return status_of(err);
}

static int report_difference(const struct options *options,
			     const struct snapshot *old_one,
			     const struct snapshot *new_one)
{
	struct memory_answer answer = { .json = NULL };
	struct difference difference;

	working_begin(-1, "comparing %s and %s", options->command[0],
		      options->command[1]);
	difference_find(old_one, new_one, &difference);
	if (wants(options, HEAP_FILE_JSON))
		answer.json = difference_json(old_one, new_one, &difference);
	difference_text(old_one, new_one, &difference, options->report.top,
			&answer.text);
	difference_fini(&difference);
	return write_answer(options, new_one->view.pid, &answer);
}

static int show_difference(const struct options *options)
{
	struct snapshot old_one, new_one;
	int err = read_snapshot(options->command[0], &old_one);

	if (err)
		return EXIT_NOTHING_TRACED;
	err = read_snapshot(options->command[1], &new_one);
	if (err) {
		snapshot_fini(&old_one);
		return EXIT_NOTHING_TRACED;
	}
	err = report_difference(options, &old_one, &new_one);
	snapshot_fini(&old_one);
	snapshot_fini(&new_one);
	return status_of(err);
}

int memory_run(const struct options *options)
{
	int status = 0;

	/* A file that may not grow (ulimit -f) is one that can't be written. */
	signal(SIGXFSZ, SIG_IGN);
	if (outputs_try(options))
		return EXIT_NOTHING_TRACED;
	if (options->command)
		return options->command[1] ? show_difference(options) :
					     show_file(options);
	for (size_t i = 0; i < options->pid_count; i++) {
		int one = show(options, options->pids[i]);

		status = status ? status : one;
	}
	return status;
}
