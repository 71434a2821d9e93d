/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/per_file.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/file/log_file.h"
#include "report/format/json_put.h"
#include "report/format/json_writer.h"

struct per_file {
	struct log_files files;
	bool broken;
};

static const char *const keys[PER_FIGURES] = {
	[PER_TIME] = "ns",
	[PER_PROCESSOR] = "processor_ns",
	[PER_BLOCKS] = "blocks",
	[PER_BYTES] = "bytes",
	[PER_USABLE] = "usable_bytes",
	[PER_RELEASES] = "releases",
	[PER_MINOR_FAULTS] = "minor_faults",
	[PER_MAJOR_FAULTS] = "major_faults",
	[PER_DEVICE_READ] = "device_read_bytes",
	[PER_DEVICE_WRITTEN] = "device_written_bytes",
};

static json_t *use_object(const struct per_use *use)
{
	json_t *object = json_object();

	json_set_text(object, "function", use->function->name);
	json_set_text(object, "library", use->function->library);
	json_set_number(object, "calls", use->calls);
	if (use->timed)
		json_set_number(object, "ns",
				use->ns > 0 ? (uint64_t)use->ns : 0);
	if (use->bytes)
		json_set_number(object, "bytes", use->bytes);
	return object;
}

/* Figures that aren't known are left out. */
static json_t *call_object(const struct per_call *call)
{
	json_t *object = json_object(), *uses = json_array();
	const struct per_use *use;

	json_set_text(object, "function", call->call->function->name);
	json_object_set_new(object, "returned", json_boolean(call->returned));
	for (size_t i = 0; i < PER_FIGURES; i++)
		if (call->figures[i] != PER_UNKNOWN)
			json_set_number(object, keys[i], call->figures[i]);
	for (use = call->uses; use; use = use->hh.next)
		json_array_append_new(uses, use_object(use));
	json_object_set_new(object, "calls", uses);
	return object;
}

/* Jansson would show that a double isn't a decimal fraction. */
static void add_line(struct strbuf *out, const struct per_call *call)
{
	const uint64_t wall = clock_wall(call->call->time);
	json_t *object = call_object(call);
	size_t begin;

	strbuf_printf(out, "{\"pid\":%d,\"tid\":%d,\"time\":%llu.%09llu",
		      (int)call->call->pid, (int)call->call->tid,
		      (unsigned long long)(wall / NS_PER_SECOND),
		      (unsigned long long)(wall % NS_PER_SECOND));
	begin = out->length;
	json_put(object, JSON_COMPACT, out);
	out->text[begin] = ',';
	json_decref(object);
}

static int told_once(struct per_file *file, int err)
{
	file->broken = err < 0;
	return err;
}

int per_file_add(struct per_file *file, const struct per_call *call)
{
	struct log_file *log;
	int err;

	if (file->broken)
		return 0;
	err = log_files_get(&file->files, call->call->pid, &log);
	if (err)
		return told_once(file, err);
	add_line(&log->output.text, call);
	return told_once(file, output_end_line(&log->output));
}

int per_file_flush(struct per_file *file, pid_t pid)
{
	if (file->broken)
		return 0;
	return told_once(file, pid ? log_files_close(&file->files, pid) :
				     log_files_flush(&file->files));
}

int per_file_new(const char *path, struct output_policy *policy,
		 struct per_file **ret)
{
	struct per_file *file = xcalloc(1, sizeof(*file));
	struct log_file *log;
	int err = 0;

	log_files_init(&file->files, path);
	file->files.policy = policy;
	/* That it can't be written is better known now than in an hour. */
	if (!file->files.per_process)
		err = log_files_get(&file->files, 0, &log);
	if (err)
		per_file_free(file);
	else
		*ret = file;
	return err;
}

void per_file_free(struct per_file *file)
{
	if (!file)
		return;
	log_files_fini(&file->files);
	free(file);
}
