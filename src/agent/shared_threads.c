/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of each thread lies in the memory that is shared: the call that it is within,
   its stack, what was chosen for it at a trap. */
#include "agent/shared_private.h"

static void look_at_nest(const struct shared *shared, unsigned entry,
			 struct shared_nest *ret)
{
	const struct agent_thread *thread = &shared->memory->threads[entry];
	const uint32_t block =
		__atomic_load_n(&thread->block, __ATOMIC_ACQUIRE);

	*ret = (struct shared_nest){
		.entry = entry,
		.block = block < shared->blocks ? block : 0,
		.tid = (pid_t)thread->tid,
		.slot = __atomic_load_n(&thread->within, __ATOMIC_ACQUIRE),
	};
	if (ret->slot == AGENT_NEST_TOLD)
		ret->slot = 0;
}

/* As the agent looks for it. */
bool shared_find_nest(const struct shared *shared, taddr_t pointer,
		      struct shared_nest *ret)
{
	const unsigned home = agent_thread_home(pointer);
	unsigned i;

	for (i = 0; pointer && i < AGENT_PROBING; i++) {
		const unsigned entry = (home + i) % AGENT_THREADS;

		if (shared->memory->threads[entry].pointer != pointer)
			continue;
		look_at_nest(shared, entry, ret);
		return true;
	}
	return false;
}

bool shared_nest_of(const struct shared *shared, unsigned block,
		    struct shared_nest *ret)
{
	const unsigned reader = shared->readers[block];

	if (!reader)
		return false;
	look_at_nest(shared, reader - 1, ret);
	return ret->block == block;
}

bool shared_nest_stands(const struct shared *shared,
			const struct shared_nest *nest)
{
	struct shared_nest now;

	look_at_nest(shared, nest->entry, &now);
	return now.slot == nest->slot && now.block == nest->block &&
	       __atomic_load_n(&block_at(shared, nest->block)->head,
			       __ATOMIC_ACQUIRE) ==
		       shared->rings[nest->block].position;
}

void shared_nest_told(struct shared *shared, const struct shared_nest *nest,
		      bool clockless)
{
	uint64_t slot = nest->slot;

	(void)__atomic_compare_exchange_n(
		&shared->memory->threads[nest->entry].within, &slot,
		clockless ? 0 : AGENT_NEST_TOLD, false, __ATOMIC_ACQ_REL,
		__ATOMIC_RELAXED);
}

void shared_nests_forget(struct shared *shared)
{
	unsigned i;

	for (i = 0; i < AGENT_THREADS; i++)
		__atomic_store_n(&shared->memory->threads[i].within, 0,
				 __ATOMIC_RELEASE);
}

void shared_forget_outer(struct shared *shared, taddr_t pointer)
{
	struct shared_nest nest;

	if (shared_find_nest(shared, pointer, &nest))
		__atomic_store_n(&shared->memory->threads[nest.entry].within, 0,
				 __ATOMIC_RELEASE);
}

static struct agent_thread *find_thread(const struct shared *shared,
					taddr_t pointer, pid_t tid)
{
	struct agent_thread *threads = shared->memory->threads;
	unsigned i;

	for (i = 0; i < AGENT_THREADS; i++)
		if (threads[i].pointer == pointer &&
		    threads[i].tid == (uint32_t)tid)
			return &threads[i];
	return NULL;
}

bool shared_find_stack(const struct shared *shared, taddr_t pointer, pid_t tid,
		       struct shared_stack *ret)
{
	const struct agent_thread *thread = find_thread(shared, pointer, tid);

	*ret = (struct shared_stack){ 0 };
	if (thread && thread->stack_tid == (uint32_t)tid)
		*ret = (struct shared_stack){ thread->stack_low,
					      thread->stack_high };
	return thread;
}

void shared_set_stack(struct shared *shared, taddr_t pointer, pid_t tid,
		      const struct shared_stack *stack)
{
	struct agent_thread *thread = find_thread(shared, pointer, tid);

	if (!thread)
		return;
	thread->stack_low = stack->low;
	thread->stack_high = stack->high;
	__atomic_store_n(&thread->stack_tid, (uint32_t)tid, __ATOMIC_RELEASE);
}

void shared_visit_new(const struct shared *shared, shared_thread_visitor *visit,
		      void *context)
{
	const struct agent_thread *threads = shared->memory->threads;
	unsigned i;

	for (i = 0; i < AGENT_THREADS; i++) {
		const taddr_t pointer = threads[i].pointer;
		const uint32_t tid = threads[i].tid;

		if (pointer && tid && tid <= INT32_MAX &&
		    threads[i].stack_tid != tid)
			visit(context, pointer, (pid_t)tid);
	}
}

enum agent_choice shared_take_choice(struct shared *shared, taddr_t pointer,
				     pid_t tid, taddr_t slot,
				     unsigned *rate_ret)
{
	struct agent_thread *thread = find_thread(shared, pointer, tid);
	const uint64_t trapped =
		thread ? __atomic_exchange_n(&thread->trapped, 0,
					     __ATOMIC_ACQ_REL) :
			 0;

	*rate_ret = agent_trapped_rate(trapped);
	return agent_trapped_slot(trapped) == slot ?
		       agent_trapped_choice(trapped) :
		       AGENT_CHOICE_OPEN;
}

bool shared_is_within(const struct shared *shared, taddr_t pointer, pid_t tid,
		      taddr_t slot)
{
	const struct agent_thread *thread = find_thread(shared, pointer, tid);

	return thread && agent_is_within(__atomic_load_n(&thread->within,
							 __ATOMIC_ACQUIRE),
					 slot);
}
