/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/chosen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "prototype/arguments.h"
#include "prototype/number.h"
#include "report/log/event_values.h"

/* What was read of the memory at a call's entry. */
struct kept {
	struct memory memory;
	struct memory *now; /* NULL: while it is kept, what there is is read */
	struct kept_piece {
		taddr_t address;
		size_t size;
		uint8_t *bytes;
	} * pieces;
	size_t count, room;
};

/* A call that runs, and is held back or dropped. */
struct held_line {
	uint64_t id;
	bool dropped;
	struct kept kept;
	UT_hash_handle hh;
};

/* A function that has no argument of a name. */
struct told {
	char *function;
	UT_hash_handle hh;
};

#define NAMES_MAX 16 /* of functions, in a line for the user */

struct chosen {
	struct sink sink;
	struct sink *sinks;
	struct predicate *predicate;
	struct print_limits limits;
	struct held_line *held;
	struct told *told;
};

/* ---- memory of the entry ---- */

#define PIECES_MAX 256

static void keep_piece(struct kept *kept, taddr_t address, const void *bytes,
		       size_t size)
{
	struct kept_piece *piece;

	if (!size || kept->count == PIECES_MAX)
		return;
	kept->pieces = xgrow(kept->pieces, kept->count, &kept->room,
			     sizeof(*kept->pieces));
	piece = &kept->pieces[kept->count++];
	*piece = (struct kept_piece){ address, size, xmalloc(size) };
	memcpy(piece->bytes, bytes, size);
}

static size_t read_and_keep(struct memory *memory, taddr_t address, void *ret,
			    size_t size)
{
	struct kept *kept = (struct kept *)memory;
	size_t n = memory_read_some(kept->now, address, ret, size);

	keep_piece(kept, address, ret, n);
	return n;
}

static const struct kept_piece *find_piece(const struct kept *kept,
					   taddr_t address)
{
	for (size_t i = 0; i < kept->count; i++)
		if (address - kept->pieces[i].address < kept->pieces[i].size)
			return &kept->pieces[i];
	return NULL;
}

/* What nobody has read then isn't known. */
static size_t read_kept(struct memory *memory, taddr_t address, void *ret,
			size_t size)
{
	const struct kept *kept = (const struct kept *)memory;
	size_t done = 0;

	while (done < size) {
		const struct kept_piece *piece =
			find_piece(kept, address + done);
		uint64_t offset;
		size_t n;

		if (!piece)
			break;
		offset = address + done - piece->address;
		n = piece->size - offset;
		n = n < size - done ? n : size - done;
		memcpy((uint8_t *)ret + done, piece->bytes + offset, n);
		done += n;
	}
	return done;
}

static const struct memory_ops keeping_ops = { .read = read_and_keep };
static const struct memory_ops kept_ops = { .read = read_kept };

/* As the log would read it, to show it. */
static void keep(const struct chosen *chosen, const struct event *event,
		 struct kept *kept)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct call_values values = event_values(event);

	kept->memory.ops = &keeping_ops;
	kept->now = values.memory;
	values.memory = &kept->memory;
	prototype_print_entry(event->call->function->prototype, &values,
			      &chosen->limits, &text);
	kept->memory.ops = &kept_ops;
	kept->now = NULL;
}

/* ---- a call, as predicates ask about it ---- */

struct asked_call {
	struct predicate_call call;
	struct chosen *chosen;
	const struct event *event;
	struct call_values values;
	const struct prototype *prototype;
};

static struct asked_call *asked_of(struct predicate_call *call)
{
	return (struct asked_call *)call;
}

static bool number_at(const struct asked_call *asked, struct place place,
		      const struct type *type, struct predicate_number *ret)
{
	ret->is_signed = type->kind == TYPE_INTEGER && type->is_signed;
	return !number_read(place, type, asked->values.arch->word_size,
			    &ret->value);
}

static bool typed_argument(const struct asked_call *asked, unsigned index,
			   struct predicate_number *ret)
{
	struct arguments arguments;
	struct place place;

	arguments_init(&arguments, asked->prototype, &asked->values);
	return index < arguments_count(&arguments) &&
	       !arguments_place(&arguments, index, &place) &&
	       number_at(asked, place, arguments_type(&arguments, index), ret);
}

static bool plain_argument(const struct asked_call *asked, unsigned index,
			   struct predicate_number *ret)
{
	const struct arch_ops *arch = asked->values.arch;

	ret->is_signed = true;
	if (arch->argument(asked->values.entry_regs, asked->values.memory,
			   index, &ret->value) < 0)
		return false;
	if (arch->word_size == 4)
		ret->value = (int32_t)ret->value;
	return true;
}

static bool ask_argument(struct predicate_call *call, unsigned index,
			 struct predicate_number *ret)
{
	const struct asked_call *asked = asked_of(call);

	if (asked->prototype && index < asked->prototype->count)
		return typed_argument(asked, index, ret);
	return !asked->values.system_call &&
	       (!asked->prototype || asked->prototype->variadic) &&
	       plain_argument(asked, index, ret);
}

/* Of the first at once, in case the name is wrong; of the rest in the end. */
static void tell(struct chosen *chosen, const struct function *function,
		 const char *name)
{
	struct told *told;

	HASH_FIND_STR(chosen->told, function->name, told);
	if (told)
		return;
	if (!chosen->told)
		diag(DIAG_WARNING, DIAG_SESSION,
		     "--if: %s has no argument that is known as '%s'%s: "
		     "nothing that is compared with it holds",
		     function->name, name,
		     function->prototype ?
			     "" :
			     " (without a prototype they are arg1, arg2, ...)");
	told = xcalloc(1, sizeof(*told));
	told->function = xstrdup(function->name);
	HASH_ADD_KEYPTR(hh, chosen->told, told->function,
			strlen(told->function), told);
}

static void tell_rest(const struct chosen *chosen)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };
	unsigned count = HASH_COUNT(chosen->told), named = 0;
	const struct told *told = chosen->told;

	if (count < 2)
		return;
	while ((told = told->hh.next) && named++ < NAMES_MAX)
		strbuf_printf(&names, "%s%s", named > 1 ? ", " : "",
			      told->function);
	diag(DIAG_WARNING, DIAG_SESSION,
	     "--if: nor %s %u more function%s: %s%s",
	     count == 2 ? "has" : "have", count - 1, count == 2 ? "" : "s",
	     strbuf_text(&names), told ? ", ..." : "");
}

static bool ask_named(struct predicate_call *call, const char *name,
		      struct predicate_number *ret)
{
	const struct asked_call *asked = asked_of(call);
	const struct prototype *prototype = asked->prototype;

	for (unsigned i = 0; prototype && i < prototype->count; i++)
		if (prototype->parameters[i].name &&
		    !strcmp(prototype->parameters[i].name, name))
			return typed_argument(asked, i, ret);
	tell(asked->chosen, asked->event->call->function, name);
	return false;
}

static bool ask_result(struct predicate_call *call,
		       struct predicate_number *ret)
{
	const struct asked_call *asked = asked_of(call);
	struct arguments arguments;
	struct found_value found;
	struct place place;

	if (!asked->values.result_regs)
		return false;
	if (!asked->prototype) {
		ret->is_signed = true;
		ret->value =
			asked->values.arch->result(asked->values.result_regs);
		if (asked->values.arch->word_size == 4)
			ret->value = (int32_t)ret->value;
		return true;
	}
	arguments_init(&arguments, asked->prototype, &asked->values);
	return !arguments_result(&arguments, &found, &place) &&
	       number_at(asked, place, arguments_result_type(&arguments), ret);
}

static bool ask_error(struct predicate_call *call, struct predicate_number *ret)
{
	const struct asked_call *asked = asked_of(call);

	if (!asked->values.result_regs)
		return false;
	*ret = (struct predicate_number){
		asked->event->failed ? asked->event->error : 0, false
	};
	return true;
}

static bool ask_duration(struct predicate_call *call,
			 struct predicate_number *ret)
{
	const struct event *event = asked_of(call)->event;

	if (event->kind == EVENT_CALL)
		return false;
	*ret = (struct predicate_number){ event_duration(event), false };
	return true;
}

static const struct predicate_call_ops asked_ops = {
	.argument = ask_argument,
	.named = ask_named,
	.result = ask_result,
	.error = ask_error,
	.duration = ask_duration,
};

/* At its end the arguments are still those of its entry. */
static enum answer ask(struct chosen *chosen, const struct event *event,
		       struct kept *kept)
{
	struct asked_call asked = {
		.call.ops = &asked_ops,
		.chosen = chosen,
		.event = event,
		.values = event_values(event),
		.prototype = event->call->function->prototype,
	};

	if (kept)
		asked.values.memory = &kept->memory;
	return predicate_ask(chosen->predicate, &asked.call, kept != NULL);
}

/* ---- events ---- */

static struct held_line *hold(struct chosen *chosen, uint64_t id, bool dropped)
{
	struct held_line *held = xcalloc(1, sizeof(*held));

	held->id = id;
	held->dropped = dropped;
	HASH_ADD(hh, chosen->held, id, sizeof(held->id), held);
	return held;
}

static void let_go(struct chosen *chosen, struct held_line *held)
{
	HASH_DEL(chosen->held, held);
	while (held->kept.count)
		free(held->kept.pieces[--held->kept.count].bytes);
	free(held->kept.pieces);
	free(held);
}

static int on_begin(struct chosen *chosen, const struct event *event)
{
	struct held_line *held;

	switch (ask(chosen, event, NULL)) {
	case ANSWER_YES:
		return sinks_event(chosen->sinks, event);
	case ANSWER_NO:
		(void)hold(chosen, event->call->id, true);
		return 0;
	default:
		held = hold(chosen, event->call->id, false);
		keep(chosen, event, &held->kept);
		return 0;
	}
}

/* As it was when it began. */
static int pass_begin(struct chosen *chosen, const struct event *end,
		      struct held_line *held)
{
	struct call call = *end->call;
	const struct event event = {
		.kind = EVENT_CALL,
		.pid = call.pid,
		.tid = call.tid,
		.time = call.time,
		.call = &call,
	};

	call.memory = &held->kept.memory;
	return sinks_event(chosen->sinks, &event);
}

static int on_end(struct chosen *chosen, const struct event *event)
{
	struct held_line *held;
	int err = 0, next;

	HASH_FIND(hh, chosen->held, &event->call->id, sizeof(held->id), held);
	if (!held)
		return sinks_event(chosen->sinks, event);
	if (!held->dropped && ask(chosen, event, &held->kept) == ANSWER_YES) {
		err = pass_begin(chosen, event, held);
		next = sinks_event(chosen->sinks, event);
		err = err ? err : next;
	}
	let_go(chosen, held);
	return err;
}

/* In a child: its parent's call is still to return. */
static int on_child_return(struct chosen *chosen, const struct event *event)
{
	struct held_line *held;

	HASH_FIND(hh, chosen->held, &event->call->id, sizeof(held->id), held);
	return held ? 0 : sinks_event(chosen->sinks, event);
}

static int on_event(struct sink *sink, const struct event *event)
{
	struct chosen *chosen = (struct chosen *)sink;

	switch (event->kind) {
	case EVENT_CALL:
		return on_begin(chosen, event);
	case EVENT_RETURN:
	case EVENT_ABANDON:
		return on_end(chosen, event);
	case EVENT_CHILD_RETURN:
		return on_child_return(chosen, event);
	default:
		return sinks_event(chosen->sinks, event);
	}
}

static int on_flush(struct sink *sink)
{
	return sinks_flush(((struct chosen *)sink)->sinks);
}

static int on_finish(struct sink *sink)
{
	const struct chosen *chosen = (struct chosen *)sink;

	tell_rest(chosen);
	return sinks_finish(chosen->sinks);
}

static void on_free(struct sink *sink)
{
	struct chosen *chosen = (struct chosen *)sink;
	struct told *told, *next;
	struct held_line *held, *other;

	HASH_ITER(hh, chosen->held, held, other)
		let_go(chosen, held);
	HASH_ITER(hh, chosen->told, told, next) {
		HASH_DEL(chosen->told, told);
		free(told->function);
		free(told);
	}
	sinks_free(chosen->sinks);
	free(chosen);
}

static const struct sink_ops sink_ops = {
	.event = on_event,
	.flush = on_flush,
	.finish = on_finish,
	.free = on_free,
};

struct sink *chosen_new(struct sink *sinks, struct predicate *predicate,
			const struct print_limits *limits)
{
	struct chosen *chosen = xcalloc(1, sizeof(*chosen));

	chosen->sink.ops = &sink_ops;
	chosen->sinks = sinks;
	chosen->predicate = predicate;
	chosen->limits = *limits;
	return &chosen->sink;
}
