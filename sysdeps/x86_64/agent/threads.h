/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_THREADS_H
#define CALLTRAP_AGENT_THREADS_H

#include "sysdeps/x86_64/agent/agent.h"

static inline uint64_t thread_pointer(void)
{
	uint64_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

_Static_assert(AGENT_THREADS == 1 << (64 - 54),
	       "as agent_thread_home() has it");

/* A handler may come at any point and do the same for its thread first. */
void take_block(struct agent_thread *thread) HIDDEN;

static inline struct agent_thread *entry_at(unsigned at)
{
	return &agent_shared.threads[at % AGENT_THREADS];
}

/* An entry that was freed may lie before the one that the thread has. */
struct agent_thread *claim(uint64_t pointer, uint32_t tid) HIDDEN;

static inline uint32_t own_tid(const struct config *config)
{
	const char *thread = (const char *)thread_pointer();

	/* No system call: a filter may kill for it. */
	if (!config->tid_offset)
		return 0;
	return *(const uint32_t *)(thread + config->tid_offset);
}

static inline struct agent_thread *find_thread(const struct config *config)
{
	const uint64_t pointer = thread_pointer();
	const uint32_t tid = own_tid(config);
	struct agent_thread *thread = entry_at(agent_thread_home(pointer));

	if (__builtin_expect(thread->pointer == pointer && thread->tid == tid &&
				     thread->block,
			     1))
		return thread;
	return claim(pointer, tid);
}

static inline struct agent_block *block_at(const struct config *config,
					   uint64_t number)
{
	uint64_t shared = (uint64_t)&agent_shared;

	/* It goes on behind what the compiler thinks is its end. */
	__asm__("" : "+r"(shared));
	return (struct agent_block *)(shared + config->blocks +
				      number * config->block_size);
}

#endif
