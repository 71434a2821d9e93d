/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/agent_private.h"

/*
 * A call's stack is read before its record: when it has begun. Of some calls
 * no record comes, as a handler has jumped out of them, or their thread ends.
 */

/* Where the walk is kept; NULL: it isn't. */
static struct known_walk *place_of(struct agent_space *space,
				   const struct agent_watched *entry)
{
	struct known_walk **walks = &space->walks[entry->block % SHARED_BLOCKS];

	if (!entry->walk)
		return NULL;
	if (!*walks)
		*walks = xcalloc(AGENT_KEPT_WALKS, sizeof(**walks));
	return &(*walks)[entry->walk % AGENT_KEPT_WALKS];
}

static void remember(struct known_walk *walk, uint64_t name,
		     const struct unwind_seen *seen)
{
	walk->name[1] = walk->name[0];
	walk->seen[1] = walk->seen[0];
	walk->name[0] = name;
	walk->seen[0] = *seen;
}

/* What told of the walk was lost: so is the stack. */
static stack_id recall(struct agent_space *space,
		       const struct agent_watched *entry)
{
	const struct known_walk *walk = place_of(space, entry);
	unsigned i;

	for (i = 0; walk && i < ARRAY_SIZE(walk->name); i++)
		if (walk->name[i] == entry->walk)
			return unwind_again(
				space->space->prober->config.unwinder,
				&walk->seen[i]);
	space->engine->report.lost++;
	return STACK_NONE;
}

stack_id agent_entry_stack(struct agent_space *space,
			   const struct agent_watched *entry)
{
	struct unwinder *unwinder = space->space->prober->config.unwinder;
	struct known_walk *walk;
	struct unwind_seen seen;

	if (!unwinder)
		return STACK_NONE;
	if (entry->known)
		return recall(space, entry);
	seen = unwind_addresses(unwinder, space->space->space, entry->frames,
				entry->frame_count, entry->complete);
	walk = place_of(space, entry);
	if (walk)
		remember(walk, entry->walk, &seen);
	return seen.stack;
}

/* More can't run at once, but what the program has written itself. */
#define ENTERED_MOST 4096

static void take_out(struct entered_list *entered, size_t i)
{
	entered->count--;
	memmove(&entered->list[i], &entered->list[i + 1],
		(entered->count - i) * sizeof(*entered->list));
}

/*
 * It has ended without a record: its place on the stack is another's. (Those
 * above on the stack needn't have: a handler may run on another one.)
 */
static bool is_over(const struct entered *one, const struct entered *newer)
{
	return one->space == newer->space && one->tid == newer->tid &&
	       one->slot == newer->slot;
}

static void drop_over(struct entered_list *entered, const struct entered *newer)
{
	size_t i;

	for (i = entered->count; i--;)
		if (is_over(&entered->list[i], newer))
			take_out(entered, i);
}

static struct entered *add(const struct entered *one)
{
	struct entered_list *entered = &one->space->engine->entered;

	drop_over(entered, one);
	if (entered->count == ENTERED_MOST)
		take_out(entered, 0);
	if (entered->count == entered->room)
		entered->list = xgrow(entered->list, entered->count,
				      &entered->room, sizeof(*entered->list));
	entered->list[entered->count] = *one;
	return &entered->list[entered->count++];
}

void agent_entry_keep(struct agent_space *space,
		      const struct agent_watched *entry)
{
	(void)add(&(struct entered){
		.space = space,
		.tid = entry->tid,
		.began = entry->time,
		.slot = entry->slot,
		.stack = agent_entry_stack(space, entry),
	});
}

static struct entered *find(struct agent_space *space, pid_t tid, taddr_t slot,
			    uint64_t began)
{
	struct entered_list *entered = &space->engine->entered;
	size_t i;

	for (i = entered->count; i--;) {
		struct entered *one = &entered->list[i];

		if (one->space == space && one->tid == tid &&
		    one->slot == slot && one->began == began)
			return one;
	}
	return NULL;
}

stack_id agent_entry_take(struct agent_space *space,
			  const struct agent_record *record, bool *told_ret)
{
	struct entered_list *entered = &space->engine->entered;
	struct entered *one =
		find(space, record->tid, record->slot, record->began);
	stack_id stack;

	*told_ret = one && one->told;
	if (!one)
		return STACK_NONE;
	stack = one->stack;
	take_out(entered, (size_t)(one - entered->list));
	return stack;
}

bool agent_entry_tell(struct agent_space *space, pid_t tid, taddr_t slot,
		      uint64_t began, stack_id *stack_ret)
{
	struct entered *one = find(space, tid, slot, began);
	bool told;

	if (!one)
		one = add(&(struct entered){
			.space = space,
			.tid = tid,
			.began = began,
			.slot = slot,
			.stack = STACK_NONE,
		});
	*stack_ret = one->stack;
	told = one->told;
	one->told = true;
	return !told;
}

void agent_entries_forget_task(struct agent_engine *engine, pid_t tid)
{
	struct entered_list *entered = &engine->entered;
	size_t i;

	for (i = entered->count; i--;)
		if (entered->list[i].tid == tid)
			take_out(entered, i);
}

void agent_entries_forget(struct agent_engine *engine,
			  const struct agent_space *space)
{
	struct entered_list *entered = &engine->entered;
	size_t i;

	for (i = entered->count; i--;)
		if (!space || entered->list[i].space == space)
			take_out(entered, i);
	if (entered->count)
		return;
	free(entered->list);
	*entered = (struct entered_list){ 0 };
}
