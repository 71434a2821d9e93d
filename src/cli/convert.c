/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/family_path.h"
#include "cli/heap_from.h"
#include "cli/session.h"
#include "cli/working.h"
#include "recording/recorder.h"
#include "recording/text_recording.h"
#include "report/file/spool.h"

/* ---- a text becomes a recording ---- */

struct file_conversion {
	struct recorder *recorder;
	int err;
};

static void on_ended(void *context, const struct watched *process)
{
	const struct file_conversion *conversion = context;

	recorder_ended(conversion->recorder, process, &(struct heap_cost){ 0 });
}

static void on_told(void *context, const char *path,
		    const struct sink_file_counts *counts, int err)
{
	struct file_conversion *conversion = context;

	(void)counts;
	if (err)
		conversion->err = complain(err, "%s can't be written: %s", path,
					   strerror(-err));
}

/* What can't be known is said. */
static int tell_text(const char *path, const struct text_log *log, int err)
{
	if (err == -EBADMSG || (!err && !log->calls))
		return complain(-EINVAL,
				"%s: byte 0: it is no recording, and "
				"has no line of --footprint or of a log of "
				"malloc, calloc, realloc and free",
				path);
	if (err)
		return complain(err, "%s can't be read: %s", path,
				strerror(-err));
	complain(0,
		 "%s: %" PRIu64 " calls; when they were, how long they took "
		 "and who made them isn't told there",
		 path, log->calls);
	if (log->strange)
		complain(0, "%s:%" PRIu64 ": can't be understood%s", path,
			 log->first_strange,
			 log->strange > 1 ? ", nor can others" : "");
	return 0;
}

static int record_text(const char *path, int fd, const char *to)
{
	struct families *families = families_new();
	struct stacks *stacks = stacks_new();
	struct file_conversion conversion = { .err = 0 };
	struct text_log log = { .unfinished = NULL };
	const struct recorder_options options = {
		.path = to,
		.stacks = stacks,
		.families = families,
		.namer = namer_new(&(struct namer_options){ 0 }),
		.told = on_told,
		.context = &conversion,
	};
	int err = family_path_load(families, "malloc");

	if (!err) {
		err = recorder_new(&options, &conversion.recorder);
		if (err)
			complain(err, "%s can't be written: %s", to,
				 strerror(-err));
	}
	if (!err) {
		working_begin(fd, "reading %s", path);
		err = text_recording_play(fd, families, stacks,
					  recorder_observer(
						  conversion.recorder),
					  on_ended, &conversion, &log);
		working_end();
		err = tell_text(path, &log, err);
		sinks_free(recorder_sink(conversion.recorder));
	} else {
		close(fd);
	}
	text_log_fini(&log);
	namer_free(options.namer);
	stacks_free(stacks);
	families_free(families);
	return err ? err : conversion.err;
}

/* ---- a recording becomes something else ---- */

static int play(const struct options *options, char *recording)
{
	char *from[] = { recording, NULL };
	struct options copy = *options;
	const char *path = copy.report.path ? copy.report.path : "/dev/stdout";

	copy.from = from;
	copy.command = NULL;
	copy.report.path = "/dev/null";
	copy.converted = path;
	switch (copy.convert) {
	case CONVERT_FOOTPRINT:
		copy.footprint = path;
		break;
	case CONVERT_CALLS:
		copy.heap_calls = path;
		break;
	case CONVERT_FILE:
		copy.export.files[copy.convert_file] = path;
		break;
	case CONVERT_CSV:
	case CONVERT_STATS:
	case CONVERT_RECORDING:
	case CONVERT_NOT:
		break;
	}
	return heap_from_run(&copy);
}

static int play_text(const struct options *options, int fd)
{
	int file = spool_file(NULL);
	char *path CLEANUP(xfree_cleanup) = NULL;
	int status = EXIT_NOTHING_TRACED;

	if (file < 0) {
		close(fd);
		complain(file, "no file can be made for a while: %s",
			 strerror(-file));
		return status;
	}
	path = xasprintf("/proc/self/fd/%d", file);
	if (!record_text(options->command[0], fd, path))
		status = play(options, path);
	close(file);
	return status;
}

static bool is_recording(int fd)
{
	char bytes[RECORDING_HEAD_SIZE];
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);

	return size > 0 && recording_is(bytes, size);
}

int convert_run(const struct options *options)
{
	char *path = options->command[0];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool recording;

	if (fd < 0) {
		complain(-errno, "%s can't be read: %s", path, strerror(errno));
		return EXIT_NOTHING_TRACED;
	}
	recording = is_recording(fd);
	if (!recording && options->convert != CONVERT_RECORDING)
		return play_text(options, fd);
	if (!recording)
		return record_text(path, fd, options->report.path) ?
			       EXIT_NOTHING_TRACED :
			       0;
	close(fd);
	if (options->convert == CONVERT_RECORDING) {
		complain(0, "%s: is a recording already", path);
		return EXIT_NOTHING_TRACED;
	}
	return play(options, path);
}
