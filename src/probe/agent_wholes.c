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

static bool is_end_of(const struct watched_call *entry,
		      const struct watched_end *end)
{
	return end->tid == entry->tid && end->slot == entry->slot &&
	       end->point == entry->point && end->time >= entry->time &&
	       end->return_address == entry->return_address;
}

static struct watched_end end_of(const struct watched_call *call)
{
	return (struct watched_end){
		.point = call->point,
		.tid = call->tid,
		.time = call->time,
		.slot = call->slot,
		.return_address = call->return_address,
		.result = call->result,
	};
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

static void join(struct watched_call *entry, const struct watched_end *end)
{
	entry->whole = true;
	entry->ended = end->time;
	entry->result = end->result;
}

bool agent_wholes_end(struct watched_list *list, struct open_calls *open,
		      const struct watched_end *end)
{
	struct watched_call *entry;
	enum whole_effect effect;

	if (!open->count)
		return false;
	entry = &list->calls[list->count - 1];
	if (!is_end_of(entry, end))
		return false;
	if (open->count > 1) {
		open->count--;
		list->count--;
		return true;
	}
	effect = function_of(entry)->whole;
	if (effect != WHOLE_AT_ENTRY && effect != WHOLE_AT_RETURN)
		return false;
	open->count = 0;
	join(entry, end);
	if (effect == WHOLE_AT_RETURN)
		entry->time = end->time;
	return true;
}

bool agent_wholes_add_ended(struct watched_list *list, struct open_calls *open,
			    uint64_t ended, uint64_t result)
{
	struct watched_call *call = &list->calls[list->count];
	const struct function *function = function_of(call);

	if (open->disabled || function->entry_only)
		return false;
	if (open->count)
		return is_inner(call - 1, call);
	if (function->whole != WHOLE_AT_ENTRY &&
	    function->whole != WHOLE_AT_RETURN)
		return false;
	list->count++;
	call->whole = true;
	call->ended = ended;
	call->result = result;
	if (function->whole == WHOLE_AT_RETURN)
		call->time = ended;
	return true;
}

static void add_return(struct watched_list *list, struct open_calls *open,
		       const struct watched_call *call)
{
	const struct watched_end end = end_of(call);

	if (agent_wholes_end(list, open, &end))
		return;
	open->count = 0;
	list->count++;
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
	struct watched_end end;

	if (at + 1 >= list->count || entry->kind != AGENT_WATCH_ENTRY ||
	    next->kind != AGENT_WATCH_RETURN || next->time > until ||
	    function_of(entry)->whole != WHOLE_AT_BOTH)
		return false;
	end = end_of(next);
	if (!is_end_of(entry, &end))
		return false;
	*ret = *entry;
	join(ret, &end);
	return true;
}
