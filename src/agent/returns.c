/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/returns.h"

#include "base/xalloc.h"
#include "sysdeps/x86_64/agent/layout.h"

static taddr_t slot_of(uint64_t word)
{
	return word & ~(uint64_t)AGENT_RETURN_STATES;
}

static bool is_set(uint64_t word)
{
	return (word & AGENT_RETURN_STATES) >= AGENT_RETURN_SET;
}

static taddr_t entry_at(const struct returns *returns, unsigned i)
{
	return returns->table + offsetof(struct agent_returns, list) +
	       i * sizeof(struct agent_return);
}

/* Of those that have the slot the one that returns next. */
static taddr_t find_original(struct replaced_returns *replaced, taddr_t slot)
{
	const struct returns *returns = (struct returns *)replaced;
	const unsigned home = agent_return_home(slot);
	struct memory *memory = &returns->space->memory.memory;
	uint64_t words[AGENT_RETURN_WAYS];
	struct agent_return newest = { 0 }, one;
	unsigned i;

	if (memory_read(memory, returns->table + home * sizeof(*words), words,
			sizeof(words)))
		return 0;
	for (i = 0; i < AGENT_RETURN_WAYS; i++)
		if (slot_of(words[i]) == slot && is_set(words[i]) &&
		    !memory_read(memory, entry_at(returns, home + i), &one,
				 sizeof(one)) &&
		    (!newest.caller || one.level > newest.level))
			newest = one;
	return newest.caller;
}

struct returns_visit {
	const struct returns *returns;
	struct memory *memory;
	returns_visitor *running;
	void *context;
};

typedef void return_visitor(const struct returns_visit *visit, unsigned i,
			    taddr_t slot);

/*
 * All whose slot holds what stands for a return address. Returns whether there
 * was one; or an error.
 */
static int visit(const struct returns_visit *visit, return_visitor *visitor)
{
	const struct returns *returns = visit->returns;
	struct memory *memory = visit->memory;
	const size_t size = AGENT_RETURNS * sizeof(uint64_t);
	uint64_t *words CLEANUP(xfree_cleanup) = xmalloc(size);
	uint64_t found;
	int any = 0, err;
	unsigned i;

	err = memory_read(memory, returns->table, words, size);
	if (err)
		return err;
	for (i = 0; i < AGENT_RETURNS; i++) {
		if (!is_set(words[i]) ||
		    memory_read(memory, slot_of(words[i]), &found,
				sizeof(found)) ||
		    found != returns->replaced.place)
			continue;
		any = 1;
		if (visitor)
			visitor(visit, i, slot_of(words[i]));
	}
	return any;
}

static struct returns_visit all_of(const struct returns *returns)
{
	return (struct returns_visit){
		.returns = returns,
		.memory = &returns->space->memory.memory,
	};
}

bool returns_outstanding(const struct returns *returns)
{
	const struct returns_visit all = all_of(returns);

	return visit(&all, NULL) != 0;
}

/* That of a tail caller is the outermost's. */
static void put_one_back(const struct returns_visit *visit, unsigned i,
			 taddr_t slot)
{
	struct agent_return one;

	if (memory_read(visit->memory, entry_at(visit->returns, i), &one,
			sizeof(one)) ||
	    one.level)
		return;
	if (memory_write(visit->memory, slot, &one.address,
			 sizeof(one.address)))
		return; /* it has gone */
}

static void put_back(struct replaced_returns *replaced, struct memory *copy)
{
	struct returns_visit all = all_of((struct returns *)replaced);

	all.memory = copy;
	(void)visit(&all, put_one_back);
}

static void tell_running(const struct returns_visit *visit, unsigned i,
			 taddr_t slot UNUSED)
{
	struct agent_return one;

	if (!memory_read(visit->memory, entry_at(visit->returns, i), &one,
			 sizeof(one)))
		visit->running(visit->context, one.stub, one.began);
}

void returns_visit_running(const struct returns *returns,
			   returns_visitor *running, void *context)
{
	struct returns_visit all = all_of(returns);

	all.running = running;
	all.context = context;
	(void)visit(&all, tell_running);
}

void returns_init(struct returns *ret, struct space *space, taddr_t base,
		  uint32_t back)
{
	*ret = (struct returns){
		.replaced = { base + back, find_original, put_back },
		.space = space,
		.table = base + AGENT_RETURNS_OFFSET,
	};
}
