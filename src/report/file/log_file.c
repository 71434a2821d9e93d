/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/log_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "report/file/path_pattern.h"

void log_files_init(struct log_files *files, const char *path)
{
	struct strbuf text = { 0 };

	*files = (struct log_files){ .mark = " <unfinished ...>" };
	if (!path)
		return;
	files->path = xstrdup(path);
	files->per_process = path_pattern_expand(path, 0, &text);
	strbuf_fini(&text);
}

void log_files_fini(struct log_files *files)
{
	struct log_file *file, *next;

	HASH_ITER(hh, files->files, file, next) {
		HASH_DEL(files->files, file);
		output_fini(&file->output);
		free(file);
	}
	free(files->path);
}

/* Gives back descriptors; the files are opened again when needed. */
static bool close_others(struct log_files *files)
{
	struct log_file *file, *next;
	bool closed = false;

	HASH_ITER(hh, files->files, file, next) {
		if (file->output.fd < 0)
			continue;
		if (output_flush(&file->output) < 0)
			continue;
		output_close(&file->output);
		closed = true;
	}
	return closed;
}

static int open_file(struct log_files *files, struct log_file *file)
{
	struct strbuf path = { 0 };
	int err;

	if (!files->path)
		return output_open(&file->output, NULL, false, false);
	path_pattern_expand(files->path, file->pid, &path);
	err = output_open(&file->output, strbuf_text(&path), file->used,
			  files->per_process);
	if (err == -EMFILE && close_others(files))
		err = output_open(&file->output, path.text, file->used,
				  files->per_process);
	strbuf_fini(&path);
	if (!err)
		file->used = true;
	return err;
}

static struct log_file *add_file(struct log_files *files, pid_t pid)
{
	struct log_file *file = xcalloc(1, sizeof(*file));

	file->pid = pid;
	file->output = OUTPUT_CLOSED;
	file->output.policy = files->policy;
	file->output.add_gap = files->add_gap;
	HASH_ADD_INT(files->files, pid, file);
	return file;
}

static struct log_file *find_file(struct log_files *files, pid_t pid)
{
	struct log_file *file = files->last;

	if (file && file->pid == pid)
		return file;
	HASH_FIND_INT(files->files, &pid, file);
	return file;
}

/* So that a flush does not look at every process there ever was. */
static void mark_dirty(struct log_files *files, struct log_file *file)
{
	if (file->dirty)
		return;
	file->dirty = true;
	file->next_dirty = files->dirty;
	files->dirty = file;
}

int log_files_get(struct log_files *files, pid_t pid, struct log_file **ret)
{
	pid_t key = files->per_process ? pid : 0;
	struct log_file *file = find_file(files, key);
	int err;

	if (!file)
		file = add_file(files, key);
	files->last = file;
	if (file->output.fd < 0) {
		err = open_file(files, file);
		if (err)
			return err;
	}
	mark_dirty(files, file);
	*ret = file;
	return 0;
}

int log_files_close(struct log_files *files, pid_t pid)
{
	struct log_file *file;
	int err;

	if (!files->per_process)
		return 0;
	file = find_file(files, pid);
	if (!file || file->output.fd < 0)
		return 0;
	err = log_file_interrupt(file, files->mark);
	if (!err)
		err = output_flush(&file->output);
	output_fini(&file->output);
	return err;
}

/* A line that is begun in the old one ends there. */
static int move_file(struct log_files *files, struct log_file *file,
		     const char *path)
{
	int err;

	if (file->output.begun) {
		err = log_file_interrupt(file, files->mark);
		if (err)
			return err;
	}
	err = output_move(&file->output, path);
	if (!err)
		file->headed = false;
	return err;
}

void log_files_renew(struct log_files *files, struct log_file *file)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int err;

	if (!files->path || file->output.fd < 0 || file->stays)
		return;
	path_pattern_expand(files->path, file->pid, &path);
	if (!output_has_moved(&file->output, strbuf_text(&path)))
		return;
	err = move_file(files, file, strbuf_text(&path));
	file->stays = err;
	if (err)
		diag(DIAG_WARNING, DIAG_SESSION,
		     "%s was moved away, and another one can't be written (%s): "
		     "what comes goes to the old one",
		     strbuf_text(&path), strerror(-err));
}

#define LOOK_EVERY NS_PER_SECOND

/* Looked first: what has gathered since is not for the old file. */
static int flush_file(struct log_files *files, struct log_file *file,
		      uint64_t now)
{
	if (now - file->looked >= LOOK_EVERY) {
		file->looked = now;
		log_files_renew(files, file);
	}
	return output_flush(&file->output);
}

int log_files_flush(struct log_files *files)
{
	const uint64_t now = files->dirty ? clock_now() : 0;
	struct log_file *file;
	int err = 0;

	while (!err && files->dirty) {
		file = files->dirty;
		files->dirty = file->next_dirty;
		file->dirty = false;
		err = flush_file(files, file, now);
	}
	return err;
}

int log_files_finish(struct log_files *files)
{
	struct log_file *file, *next;
	int err = 0;

	HASH_ITER(hh, files->files, file, next) {
		if (!file->line_begun)
			continue;
		err = log_files_get(files, file->pid, &file);
		if (!err)
			err = log_file_interrupt(file, files->mark);
		if (err)
			return err;
	}
	return log_files_flush(files);
}

int log_file_interrupt(struct log_file *file, const char *mark)
{
	if (!file->line_begun)
		return 0;
	file->line_begun = false;
	strbuf_puts(&file->output.text, mark);
	return output_end_line(&file->output);
}
