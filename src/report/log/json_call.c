/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/json_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/format/json_put.h"
#include "report/format/json_stack.h"
#include "report/log/event_values.h"

/* What it takes to use the memory of a call's values for another one's. */
#define SPARE_SIZE 4096

/* A call that has begun: what its arguments were by then. */
struct begun_call {
	uint64_t id;
	struct json_writer values;
	struct begun_call *next_spare;
	UT_hash_handle hh;
};

/* What is the same in all lines of one function's calls. */
struct json_function {
	const struct function *function;
	struct strbuf text;
	UT_hash_handle hh;
};

static struct begun_call *take_begun(struct json_calls *calls)
{
	struct begun_call *begun = calls->spare;

	if (begun) {
		calls->spare = begun->next_spare;
		json_writer_clear(&begun->values);
		return begun;
	}
	begun = xcalloc(1, sizeof(*begun));
	json_writer_init(&begun->values);
	return begun;
}

static void free_begun(struct begun_call *begun)
{
	json_writer_fini(&begun->values);
	free(begun);
}

/* Few have long texts, and they shall not keep that memory. */
static void keep_spare(struct json_calls *calls, struct begun_call *begun)
{
	if (begun->values.text.room > SPARE_SIZE) {
		free_begun(begun);
		return;
	}
	begun->next_spare = calls->spare;
	calls->spare = begun;
}

static struct begun_call *find_begun(const struct json_calls *calls,
				     const struct call *call)
{
	struct begun_call *begun = calls->last;

	if (begun && begun->id == call->id)
		return begun;
	HASH_FIND(hh, calls->begun, &call->id, sizeof(call->id), begun);
	return begun;
}

static void add_begun(struct json_calls *calls, struct begun_call *begun)
{
	struct begun_call *before = calls->last;

	calls->last = begun;
	if (before)
		HASH_ADD(hh, calls->begun, id, sizeof(before->id), before);
}

static void remove_begun(struct json_calls *calls, struct begun_call *begun)
{
	if (begun == calls->last)
		calls->last = NULL;
	else
		HASH_DEL(calls->begun, begun);
}

void json_calls_begin(struct json_calls *calls, const struct event *event)
{
	struct call_values values = event_values(event);
	struct begun_call *begun = take_begun(calls);

	begun->id = event->call->id;
	prototype_write_entry(event->call->function->prototype, &values,
			      &calls->options.limits, &begun->values.writer);
	add_begun(calls, begun);
}

bool json_calls_runs(const struct json_calls *calls, const struct call *call)
{
	return find_begun(calls, call) != NULL;
}

static void put_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_put(out, key);
	json_put_text(text, strlen(text), out);
}

static void put_value(struct strbuf *out, const char *key, json_t *value)
{
	strbuf_put(out, key);
	json_put(value, JSON_COMPACT, out);
	json_decref(value);
}

static const char *end_name(enum call_end end)
{
	switch (end) {
	case CALL_RETURNED:
		break;
	case CALL_LONGJMP:
		return "longjmp";
	case CALL_EXCEPTION:
		return "exception";
	case CALL_THREAD_EXITED:
		return "thread exited";
	case CALL_PROCESS_ENDED:
		return "process ended";
	case CALL_NEVER_RETURNS:
		return "no return";
	case CALL_UNSEEN:
	case CALL_UNWATCHED:
		return "return unseen";
	case CALL_DETACHED:
		return "detached";
	}
	return "returned";
}

static void put_names(const struct json_calls *calls,
		      const struct function *function, struct strbuf *out)
{
	const bool is_system = function->place == FUNCTION_SYSTEM_CALL;

	put_text(out, ",\"function\":",
		 is_system ? function->name :
			     names_short(calls->names, function));
	if (function->library)
		put_text(out, ",\"library\":", function->library);
	if (function->caller)
		put_text(out, ",\"caller\":", function->caller);
	if (is_system)
		strbuf_put(out, ",\"syscall\":true");
	strbuf_put(out, ",\"ip\":");
}

static const struct strbuf *names_of(struct json_calls *calls,
				     const struct function *function)
{
	struct json_function *known = calls->last_known;

	if (known && known->function == function)
		return &known->text;
	HASH_FIND_PTR(calls->known, &function, known);
	if (!known) {
		known = xcalloc(1, sizeof(*known));
		known->function = function;
		put_names(calls, function, &known->text);
		HASH_ADD_PTR(calls->known, function, known);
	}
	calls->last_known = known;
	return &known->text;
}

static void put_function(struct json_calls *calls, const struct call *call,
			 struct strbuf *out)
{
	const struct strbuf *names = names_of(calls, call->function);

	strbuf_add(out, names->text, names->length);
	json_put_address(call->return_address, out);
	strbuf_put(out, ",\"depth\":");
	json_put_integer(call->depth, out);
}

/* Nothing comes of a void function, nor of a call that was interrupted. */
static void put_result(struct json_calls *calls, const struct event *event,
		       const struct call_values *values, struct strbuf *out)
{
	static const char nothing[] = "\"<void>\"";
	struct json_writer *result = &calls->result;
	const char *text;
	size_t length;

	json_writer_clear(result);
	prototype_write_result(event->call->function->prototype, values,
			       &calls->options.limits, &result->writer);
	text = json_writer_first(result, &length);
	if (!text || (event->error && !event->failed) ||
	    (length == strlen(nothing) && !memcmp(text, nothing, length)))
		return;
	strbuf_put(out, ",\"result\":");
	strbuf_add(out, text, length);
}

static void put_error(const struct event *event, struct strbuf *out)
{
	const char *name = error_name(event->error);

	if (event->failed)
		strbuf_put(out, ",\"failed\":true");
	if (!event->error)
		return;
	if (name) {
		put_text(out, ",\"error\":", name);
		return;
	}
	strbuf_put(out, ",\"error\":");
	json_put_integer(event->error, out);
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_text(text, strlen(text)));
}

static json_t *script_frame(const struct script_frame *frame)
{
	json_t *object = json_object();

	set_text(object, "file", frame->file);
	if (frame->line)
		json_object_set_new(object, "line", json_integer(frame->line));
	return object;
}

static void put_script(const struct json_calls *calls,
		       const struct script_frames *frames, struct strbuf *out)
{
	json_t *array;

	put_value(out, ",\"script\":", script_frame(frames->own));
	if (!calls->namer)
		return;
	array = json_array();
	for (size_t i = 0; i < frames->count; i++)
		json_array_append_new(array, script_frame(&frames->list[i]));
	put_value(out, ",\"script_stack\":", array);
}

static void put_values(struct json_calls *calls, const struct event *event,
		       struct json_writer *arguments, struct strbuf *out)
{
	const struct prototype *prototype = event->call->function->prototype;
	struct call_values values = event_values(event);
	bool cut;

	if (event->kind == EVENT_RETURN)
		prototype_write_later(prototype, &values,
				      &calls->options.limits,
				      &arguments->writer);
	strbuf_put(out, ",\"args\":");
	json_writer_put_values(arguments, out);
	if (json_writer_has_names(arguments)) {
		strbuf_put(out, ",\"names\":");
		json_writer_put_names(arguments, out);
	}
	cut = arguments->cut;
	if (event->kind == EVENT_RETURN) {
		put_result(calls, event, &values, out);
		put_error(event, out);
		cut |= calls->result.cut;
	}
	if (cut)
		strbuf_put(out, ",\"cut\":true");
}

void json_calls_end(struct json_calls *calls, const struct event *event,
		    struct strbuf *out)
{
	const struct call *call = event->call;
	struct begun_call *begun = find_begun(calls, call);

	if (!begun)
		return;
	put_function(calls, call, out);
	put_values(calls, event, &begun->values, out);
	strbuf_put(out, ",\"end\":\"");
	strbuf_put(out, end_name(event->end));
	strbuf_putc(out, '"');
	if (call->script)
		put_script(calls, call->script, out);
	if (calls->namer)
		put_value(out, ",\"stack\":",
			  json_stack(calls->options.stacks, calls->namer,
				     call->stack, call->function->name));
	remove_begun(calls, begun);
	keep_spare(calls, begun);
}

void json_calls_init(struct json_calls *calls,
		     const struct json_options *options)
{
	const struct names_options names = { .demangle = options->demangle };
	const struct namer_options namer = {
		.demangle = options->demangle,
		.debuginfo = options->debuginfo,
	};

	*calls = (struct json_calls){ .options = *options };
	calls->names = names_new(&names);
	json_writer_init(&calls->result);
	if (options->where)
		calls->namer = namer_new(&namer);
}

static void forget_functions(struct json_calls *calls)
{
	struct json_function *known, *next;

	HASH_ITER(hh, calls->known, known, next) {
		HASH_DEL(calls->known, known);
		strbuf_fini(&known->text);
		free(known);
	}
}

void json_calls_fini(struct json_calls *calls)
{
	struct begun_call *begun, *next;

	HASH_ITER(hh, calls->begun, begun, next) {
		HASH_DEL(calls->begun, begun);
		free_begun(begun);
	}
	if (calls->last)
		free_begun(calls->last);
	while ((begun = calls->spare)) {
		calls->spare = begun->next_spare;
		free_begun(begun);
	}
	forget_functions(calls);
	json_writer_fini(&calls->result);
	names_free(calls->names);
	namer_free(calls->namer);
}
