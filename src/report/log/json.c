/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/file/log_file.h"
#include "report/format/json_put.h"
#include "report/format/json_writer.h"
#include "report/format/signal_name.h"
#include "report/log/json_call.h"

/* What is the same in all lines of a thread within one second. */
struct json_head {
	pid_t pid, tid;
	uint64_t second;
	struct strbuf text;
};

#define HEADS 16

struct json_sink {
	struct sink sink;
	bool hide_signals;
	struct log_files files;
	struct json_calls calls;
	struct wall_clock wall;
	struct json_head heads[HEADS]; /* by thread */
	int error;
};

static struct json_sink *json_of(struct sink *sink)
{
	return (struct json_sink *)sink;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_text(text, strlen(text)));
}

static const struct strbuf *head_of(struct json_sink *json,
				    const struct event *event, uint64_t second)
{
	struct json_head *head = &json->heads[(unsigned)event->tid % HEADS];
	struct strbuf *text = &head->text;

	if (text->length && head->tid == event->tid &&
	    head->pid == event->pid && head->second == second)
		return text;
	head->pid = event->pid;
	head->tid = event->tid;
	head->second = second;
	strbuf_clear(text);
	strbuf_put(text, "\",\"pid\":");
	json_put_integer(event->pid, text);
	strbuf_put(text, ",\"tid\":");
	json_put_integer(event->tid, text);
	strbuf_put(text, ",\"time\":");
	strbuf_add_decimal(text, second, false);
	return text;
}

/* Jansson would show that a double isn't a decimal fraction. */
static void add_head(struct json_sink *json, struct strbuf *out,
		     const char *kind, const struct event *event, uint64_t time)
{
	const uint64_t wall = wall_clock_at(&json->wall, time);
	const struct strbuf *head = head_of(json, event, wall / NS_PER_SECOND);

	strbuf_put(out, "{\"event\":\"");
	strbuf_put(out, kind);
	strbuf_add(out, head->text, head->length);
	strbuf_add_micros(out, wall);
}

static void add_seconds(struct strbuf *out, const char *key, uint64_t ns)
{
	strbuf_put(out, key);
	strbuf_add_decimal(out, ns / NS_PER_SECOND, false);
	strbuf_add_nanos(out, ns);
}

/* A call that nobody will see return is told of as soon as it begins. */
static void add_duration(struct strbuf *out, const struct event *event)
{
	if (event->end != CALL_RETURNED && event->time <= event->call->time)
		return;
	add_seconds(out, ",\"duration\":", event_duration(event));
	if (!event_is_resolved(event))
		add_seconds(out, ",\"below\":", event->cost.resolution_ns);
}

/* The rest of a line: an object's members, and its end. */
static void add_members(struct strbuf *out, const json_t *object)
{
	size_t begin = out->length;

	if (!json_object_size(object)) {
		strbuf_putc(out, '}');
		return;
	}
	json_put(object, JSON_COMPACT, out);
	out->text[begin] = ',';
}

/* Frees the object. */
static int write_line(struct json_sink *json, const char *kind,
		      const struct event *event, json_t *object)
{
	struct log_file *file;
	int err = log_files_get(&json->files, event->pid, &file);

	if (!err) {
		struct strbuf *out = &file->output.text;

		add_head(json, out, kind, event, event->time);
		add_members(out, object);
		err = output_end_line(&file->output);
	}
	json_decref(object);
	return err;
}

static void set_signal(json_t *object, int number)
{
	struct strbuf name = { 0 };

	signal_name_add(number, &name);
	set_text(object, "signal", strbuf_text(&name));
	json_object_set_new(object, "number", json_integer(number));
	strbuf_fini(&name);
}

static int end_call(struct json_sink *json, const struct event *event)
{
	struct log_file *file;
	struct strbuf *out;
	int err;

	if (!json_calls_runs(&json->calls, event->call))
		return 0;
	err = log_files_get(&json->files, event->pid, &file);
	if (err)
		return err;
	out = &file->output.text;
	add_head(json, out, "call", event, event->call->time);
	add_duration(out, event);
	json_calls_end(&json->calls, event, out);
	strbuf_putc(out, '}');
	return output_end_line(&file->output);
}

static int take_signal(struct json_sink *json, const struct event *event)
{
	json_t *object;

	if (json->hide_signals)
		return 0;
	object = json_object();
	set_signal(object, event->signal);
	json_object_set_new(object, "ip", json_address(event->ip));
	return write_line(json, "signal", event, object);
}

static int take_fork(struct json_sink *json, const struct event *event)
{
	json_t *object = json_object();

	json_object_set_new(object, "child", json_integer(event->child));
	return write_line(json, "fork", event, object);
}

static int take_exec(struct json_sink *json, const struct event *event)
{
	json_t *object = json_object();

	set_text(object, "path", event->path);
	return write_line(json, "exec", event, object);
}

static int take_exit(struct json_sink *json, const struct event *event)
{
	json_t *object = json_object();

	if (WIFSIGNALED(event->status)) {
		set_signal(object, WTERMSIG(event->status));
		if (WCOREDUMP(event->status))
			json_object_set_new(object, "core", json_true());
	} else {
		json_object_set_new(object, "status",
				    json_integer(WEXITSTATUS(event->status)));
	}
	return write_line(json, "exit", event, object);
}

static int take(struct json_sink *json, const struct event *event)
{
	switch (event->kind) {
	case EVENT_CALL:
		json_calls_begin(&json->calls, event);
		return 0;
	case EVENT_RETURN:
	case EVENT_ABANDON:
		return end_call(json, event);
	case EVENT_SIGNAL:
		return take_signal(json, event);
	case EVENT_FORK:
		return take_fork(json, event);
	case EVENT_EXEC:
		return take_exec(json, event);
	case EVENT_EXIT:
		return take_exit(json, event);
	case EVENT_LEAVE:
		return write_line(json, "detach", event, json_object());
	case EVENT_CHILD_RETURN: /* it isn't over */
	case EVENT_THREAD:
	case EVENT_THREAD_END:
		break;
	}
	return 0;
}

static int json_event(struct sink *sink, const struct event *event)
{
	struct json_sink *json = json_of(sink);

	if (json->error)
		return json->error;
	json->error = take(json, event);
	if (!json->error &&
	    (event->kind == EVENT_EXIT || event->kind == EVENT_LEAVE))
		json->error = log_files_close(&json->files, event->pid);
	return json->error;
}

static int json_flush_files(struct sink *sink)
{
	struct json_sink *json = json_of(sink);

	if (!json->error)
		json->error = log_files_flush(&json->files);
	return json->error;
}

static void json_free(struct sink *sink)
{
	struct json_sink *json = json_of(sink);
	size_t i;

	for (i = 0; i < HEADS; i++)
		strbuf_fini(&json->heads[i].text);
	json_calls_fini(&json->calls);
	log_files_fini(&json->files);
	free(json);
}

static const struct sink_ops json_ops = {
	.event = json_event,
	.flush = json_flush_files,
	.finish = json_flush_files,
	.free = json_free,
};

static void add_gap(struct strbuf *out, uint64_t lines)
{
	strbuf_printf(out, "{\"event\":\"dropped\",\"lines\":%llu}\n",
		      (unsigned long long)lines);
}

int json_new(const struct json_options *options, struct sink **ret)
{
	struct json_sink *json = xcalloc(1, sizeof(*json));
	struct log_file *file;
	int err = 0;

	json_set_alloc_funcs(xmalloc, free);
	json->sink.ops = &json_ops;
	json->hide_signals = options->hide_signals;
	json_calls_init(&json->calls, options);
	log_files_init(&json->files, options->path);
	json->files.policy = options->policy;
	json->files.add_gap = add_gap;
	if (!json->files.per_process)
		err = log_files_get(&json->files, 0, &file);
	if (err)
		json_free(&json->sink);
	else
		*ret = &json->sink;
	return err;
}

bool json_has_failed(const struct sink *sink)
{
	return ((const struct json_sink *)sink)->error != 0;
}
