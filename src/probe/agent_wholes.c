/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * Nearly every call of an allocator returns before anything else is heard of its
 * thread. So what is read of one thread in a row becomes whole calls at once, as
 * far as it can: each has its place in the order of all where it has its effect.
 * Calls within others of their group are passed over, as pairing.c does. What
 * hasn't returned yet, and what has something else in between, stays in two
 * pieces.
 */

static const struct function *function_of(const struct watched_call *call)
{
	return call->point->point->function;
}

struct watched_call *agent_wholes_next(struct watched_list *list)
{
	if (list->count == list->room)
		list->calls = xgrow(list->calls, list->count, &list->room,
				    sizeof(*list->calls));
	return &list->calls[list->count];
}

static bool is_inner(const struct watched_call *outer,
		     const struct watched_call *call)
{
	return call->tid == outer->tid &&
	       function_of(call)->group == function_of(outer)->group &&
	       (call->slot < outer->slot ||
		(call->slot == outer->slot && call->tail_call));
}

static bool is_return_of(const struct watched_call *entry,
			 const struct watched_call *call)
{
	return call->tid == entry->tid && call->slot == entry->slot &&
	       call->point == entry->point && call->time >= entry->time &&
	       call->return_address == entry->return_address;
}

/* call: behind the last of the list. */
static void add_entry(struct watched_list *list, struct open_calls *open,
		      struct watched_call *call)
{
	const struct function *function = function_of(call);

	if (open->count && !is_inner(call - 1, call))
		open->count = 0;
	if (function->entry_only && open->count)
		return;
	list->count++;
	if (!function->entry_only)
		open->count++;
	else
		call->whole = function->whole == WHOLE_AT_ENTRY;
}

static void join(struct watched_call *entry, const struct watched_call *end)
{
	entry->whole = true;
	entry->ended = end->time;
	entry->result = end->result;
}

static void add_return(struct watched_list *list, struct open_calls *open,
		       const struct watched_call *call)
{
	struct watched_call *entry;
	enum whole_effect effect;

	if (!open->count || !is_return_of(call - 1, call)) {
		open->count = 0;
		list->count++;
		return;
	}
	if (--open->count) {
		list->count--;
		return;
	}
	entry = &list->calls[list->count - 1];
	effect = function_of(entry)->whole;
	if (effect != WHOLE_AT_ENTRY && effect != WHOLE_AT_RETURN) {
		list->count++;
		return;
	}
	join(entry, call);
	if (effect == WHOLE_AT_RETURN)
		entry->time = call->time;
}

void agent_wholes_add(struct watched_list *list, struct open_calls *open)
{
	struct watched_call *call = &list->calls[list->count];

	if (open->disabled)
		list->count++;
	else if (call->kind == AGENT_WATCH_ENTRY)
		add_entry(list, open, call);
	else
		add_return(list, open, call);
}

bool agent_wholes_join(const struct watched_list *list, size_t at,
		       uint64_t until, struct watched_call *ret)
{
	const struct watched_call *entry = &list->calls[at], *next = entry + 1;

	if (at + 1 >= list->count || entry->kind != AGENT_WATCH_ENTRY ||
	    next->kind != AGENT_WATCH_RETURN || next->time > until ||
	    function_of(entry)->whole != WHOLE_AT_BOTH ||
	    !is_return_of(entry, next))
		return false;
	*ret = *entry;
	join(ret, next);
	return true;
}
