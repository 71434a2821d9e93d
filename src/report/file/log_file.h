/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_LOG_FILE_H
#define CALLTRAP_LOG_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "report/file/output.h"

/*
 * One file of a log, with the line that is begun in it. A log has one, or
 * with %p in its path one for each process.
 */
struct log_file {
	pid_t pid; /* 0: of all processes */
	struct output output;
	bool used; /* was opened once: is added to from then on */
	bool show_pids;
	bool headed; /* it says what it is of */
	pid_t first_tid;
	uint64_t last_time; /* of the latest line, for -r */

	/* The call whose line is begun and not ended. */
	bool line_begun;
	bool has_arguments;
	uint64_t call_id;
	pid_t call_tid;

	uint64_t looked; /* whether it has been moved away */
	bool stays;      /* it has, and there can't be another */
	bool dirty;      /* in the list of those to flush */
	struct log_file *next_dirty;
	UT_hash_handle hh;
};

struct log_files {
	struct output_policy *policy; /* these two: see struct output */
	void (*add_gap)(struct strbuf *out, uint64_t lines);
	char *path;       /* or NULL: standard error */
	const char *mark; /* of lines that are begun when a file is closed */
	bool per_process;
	struct log_file *files;
	struct log_file *last;
	struct log_file *dirty;
};

void log_files_init(struct log_files *files, const char *path);
void log_files_fini(struct log_files *files);

/* The file for a process's lines, opened, to add to it. */
int log_files_get(struct log_files *files, pid_t pid,
		  struct log_file **ret) MUST_CHECK;

/* A process is gone: its file, if it has one of its own, is complete. */
int log_files_close(struct log_files *files, pid_t pid) MUST_CHECK;

/* Writes what was added since the last time. */
int log_files_flush(struct log_files *files) MUST_CHECK;

/*
 * A file that was moved away or removed since, as logs are that are rotated, is
 * left, and another one by that name gets what comes. Flushing does that, once a
 * second for each.
 */
void log_files_renew(struct log_files *files, struct log_file *file);

/* The same as flushing, and ends begun lines. */
int log_files_finish(struct log_files *files) MUST_CHECK;

/*
 * Ends the begun line, if there is one, as that of an unfinished call: with
 * mark.
 */
int log_file_interrupt(struct log_file *file, const char *mark) MUST_CHECK;

#endif
