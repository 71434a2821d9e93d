/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/json_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/format/json_stack.h"
#include "report/format/json_writer.h"
#include "report/log/event_values.h"

/* A call that has begun: what its arguments were by then. */
struct begun_call {
	uint64_t id;
	struct json_writer values;
	UT_hash_handle hh;
};

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_text(text, strlen(text)));
}

void json_calls_begin(struct json_calls *calls, const struct event *event)
{
	struct call_values values = event_values(event);
	struct begun_call *begun = xcalloc(1, sizeof(*begun));

	begun->id = event->call->id;
	json_writer_init(&begun->values);
	prototype_write_entry(event->call->function->prototype, &values,
			      &calls->options.limits, &begun->values.writer);
	HASH_ADD(hh, calls->begun, id, sizeof(begun->id), begun);
}

static void free_begun(struct json_calls *calls, struct begun_call *begun)
{
	HASH_DEL(calls->begun, begun);
	json_writer_fini(&begun->values);
	free(begun);
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

static void set_function(const struct json_calls *calls, json_t *object,
			 const struct call *call)
{
	const struct function *function = call->function;
	bool is_system = function->place == FUNCTION_SYSTEM_CALL;

	set_text(object, "function",
		 is_system ? function->name :
			     names_short(calls->names, function));
	if (function->library)
		set_text(object, "library", function->library);
	if (function->caller)
		set_text(object, "caller", function->caller);
	if (is_system)
		json_object_set_new(object, "syscall", json_true());
	json_object_set_new(object, "ip", json_address(call->return_address));
	json_object_set_new(object, "depth", json_integer(call->depth));
}

/* Nothing comes of a void function, nor of a call that was interrupted. */
static void set_result(const struct json_calls *calls, json_t *object,
		       const struct event *event,
		       const struct call_values *values, bool *cut)
{
	struct json_writer result;
	json_t *array, *value;
	const char *text;

	json_writer_init(&result);
	prototype_write_result(event->call->function->prototype, values,
			       &calls->options.limits, &result.writer);
	array = json_writer_values(&result);
	value = json_array_get(array, 0);
	text = json_string_value(value);
	if (value && (event->failed || !event->error) &&
	    !(text && !strcmp(text, "<void>")))
		json_object_set(object, "result", value);
	*cut |= result.cut;
	json_decref(array);
	json_writer_fini(&result);
}

static void set_error(json_t *object, const struct event *event)
{
	const char *name = error_name(event->error);

	if (event->failed)
		json_object_set_new(object, "failed", json_true());
	if (name)
		set_text(object, "error", name);
	else if (event->error)
		json_object_set_new(object, "error",
				    json_integer(event->error));
}

static json_t *script_frame(const struct script_frame *frame)
{
	json_t *object = json_object();

	set_text(object, "file", frame->file);
	if (frame->line)
		json_object_set_new(object, "line", json_integer(frame->line));
	return object;
}

static void set_script(const struct json_calls *calls, json_t *object,
		       const struct script_frames *frames)
{
	json_t *array;

	json_object_set_new(object, "script", script_frame(frames->own));
	if (!calls->namer)
		return;
	array = json_array();
	for (size_t i = 0; i < frames->count; i++)
		json_array_append_new(array, script_frame(&frames->list[i]));
	json_object_set_new(object, "script_stack", array);
}

static void set_values(const struct json_calls *calls, json_t *object,
		       const struct event *event, struct json_writer *arguments)
{
	const struct prototype *prototype = event->call->function->prototype;
	struct call_values values = event_values(event);
	json_t *names;
	bool cut;

	if (event->kind == EVENT_RETURN)
		prototype_write_later(prototype, &values,
				      &calls->options.limits,
				      &arguments->writer);
	json_object_set_new(object, "args", json_writer_values(arguments));
	names = json_writer_names(arguments);
	if (names)
		json_object_set_new(object, "names", names);
	cut = arguments->cut;
	if (event->kind == EVENT_RETURN) {
		set_result(calls, object, event, &values, &cut);
		set_error(object, event);
	}
	if (cut)
		json_object_set_new(object, "cut", json_true());
}

json_t *json_calls_end(struct json_calls *calls, const struct event *event)
{
	const struct call *call = event->call;
	struct begun_call *begun;
	json_t *object;

	HASH_FIND(hh, calls->begun, &call->id, sizeof(call->id), begun);
	if (!begun)
		return NULL;
	object = json_object();
	set_function(calls, object, call);
	set_values(calls, object, event, &begun->values);
	set_text(object, "end", end_name(event->end));
	if (call->script)
		set_script(calls, object, call->script);
	if (calls->namer)
		json_object_set_new(object, "stack",
				    json_stack(calls->options.stacks,
					       calls->namer, call->stack,
					       call->function->name));
	free_begun(calls, begun);
	return object;
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
	if (options->where)
		calls->namer = namer_new(&namer);
}

void json_calls_fini(struct json_calls *calls)
{
	struct begun_call *begun, *next;

	HASH_ITER(hh, calls->begun, begun, next)
		free_begun(calls, begun);
	names_free(calls->names);
	namer_free(calls->namer);
}
