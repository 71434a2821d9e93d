/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/clock.h"
#include "probe/agent_private.h"

/*
 * In a log, a call that the agent makes itself is recorded when it has returned; what
 * is called within it has been recorded by then, and a stop within it is told of at
 * once. So what is recorded within another says so, and waits for that one's record. That
 * lasts for a moment, unless a handler runs in between, or the thread stands. But
 * at each stop, as before each handler, the hooks' frames lie on the thread's stack,
 * with all that an entry has: so these calls are told of first, and their
 * records are returns.
 */

/* ---- what waits ---- */

void agent_nest_hold(struct agent_space *space, struct recorded *one)
{
	struct agent_nest *nest = &space->nests[one->block];

	if (!nest->held++)
		nest->since = clock_now();
	one->due = RECORDED_HELD;
}

void agent_nest_let_go(struct recorded *one)
{
	if (one->due != RECORDED_HELD)
		return;
	one->due = one->record.ended;
	one->point->space->nests[one->block].held--;
}

static bool waits_there(const struct recorded *one,
			const struct agent_space *space, unsigned block)
{
	return one->due == RECORDED_HELD && one->block == block &&
	       one->point->space == space;
}

void agent_nest_release(struct agent_space *space, unsigned block, uint64_t due)
{
	const struct agent_nest *nest = &space->nests[block];
	struct agent_engine *engine = space->engine;
	size_t i;

	/* Mostly the last ones that were read. */
	for (i = engine->recorded_count; nest->held && i--;) {
		struct recorded *one = &engine->recorded[i];

		if (!waits_there(one, space, block))
			continue;
		agent_nest_let_go(one);
		if (due > one->due)
			one->due = due;
	}
}

bool agent_nest_has_ends(const struct agent_space *space,
			 const struct agent_record *record)
{
	const struct agent_engine *engine = space->engine;
	size_t held = space->nests[record->block].held, i;

	for (i = engine->recorded_count; held && i--;) {
		const struct recorded *one = &engine->recorded[i];

		if (!waits_there(one, space, record->block))
			continue;
		held--;
		if (one->kind != RECORDED_CALL &&
		    one->record.began >= record->began)
			return true;
	}
	return false;
}

/* ---- what it waits for ---- */

/* Calls within each other; the program may have written a longer chain. */
#define NEST_MOST 16

struct nest {
	struct shared_nest said;
	struct agent_frame frames[NEST_MOST]; /* the innermost first */
	size_t count;
};

static bool read_frame(const struct agent_space *space, taddr_t slot,
		       struct agent_frame *ret)
{
	struct memory *memory = &engine_space(space->space)->memory.memory;

	return !memory_read(memory, slot - AGENT_FRAME_RETURN, ret,
			    sizeof(*ret)) &&
	       ret->slot == slot;
}

static void read_frames(const struct agent_space *space, struct nest *nest)
{
	taddr_t slot = nest->said.slot;

	nest->count = 0;
	while (slot && nest->count < NEST_MOST) {
		struct agent_frame *frame = &nest->frames[nest->count];

		if (!read_frame(space, slot, frame))
			return;
		nest->count++;
		slot = agent_is_within(frame->outer, slot) ? frame->outer : 0;
	}
}

static struct agent_point *point_of(const struct agent_reading *reading,
				    const struct agent_frame *frame)
{
	const taddr_t offset = (taddr_t)frame->stub -
			       stub_address(reading->space->agent.base, 0);

	if (offset % AGENT_STUB_SIZE || offset / AGENT_STUB_SIZE >= AGENT_STUBS)
		return NULL;
	return agent_reading_point(reading,
				   (unsigned)(offset / AGENT_STUB_SIZE),
				   frame->began);
}

/* Not yet, while the clock is read, or its entry written. */
static bool is_begun(const struct agent_space *space,
		     const struct agent_frame *frame)
{
	return space->engine->mode & AGENT_STACKS ? frame->entered :
						    frame->began;
}

/* It has been recorded just now. */
static bool is_over(const struct agent_space *space, const struct nest *nest,
		    const struct agent_frame *frame)
{
	return frame->began == space->nests[nest->said.block].last;
}

static unsigned floats_of(const struct agent_space *space,
			  const struct agent_point *point)
{
	return agent_floats_of(space->agent.stubs[point->stub].failure);
}

static void add_entry(struct agent_space *space, const struct nest *nest,
		      const struct agent_frame *frame,
		      struct agent_point *point)
{
	struct recorded *one;
	stack_id stack;

	if (!agent_entry_tell(space, nest->said.tid, frame->slot, frame->began,
			      &stack))
		return;
	one = agent_record_add(space, point, RECORDED_ENTRY, nest->said.tid,
			       nest->said.block, frame->began);
	one->live = true;
	one->stack = stack;
	one->record = (struct agent_record){
		.began = frame->began,
		.ended = frame->began,
		.return_address = space_true_return(engine_space(space->space),
						    frame->slot,
						    frame->return_address),
		.slot = frame->slot,
		.argument_count = AGENT_ARGUMENTS,
		.float_count = floats_of(space, point),
	};
	one->tail_call = one->record.return_address != frame->return_address;
	memcpy(one->record.arguments, frame->arguments,
	       sizeof(frame->arguments));
	memcpy(one->record.floats, frame->floats, sizeof(frame->floats));
}

static void tell_first(struct agent_space *space, const struct nest *nest)
{
	struct agent_reading reading;
	size_t i;

	if (!agent_reading_begin(space, &reading))
		return;
	for (i = 0; i < nest->count; i++) {
		const struct agent_frame *frame = &nest->frames[i];
		struct agent_point *point = point_of(&reading, frame);

		if (point && !agent_tells_ends(point) &&
		    is_begun(space, frame) && !is_over(space, nest, frame))
			add_entry(space, nest, frame, point);
	}
	shared_nest_told(&space->agent.shared, &nest->said,
			 nest->count && !is_begun(space, &nest->frames[0]));
}

/* Whatever it is within, if that isn't known by now. */
static void release_all(struct agent_space *space, unsigned block)
{
	agent_nest_release(space, block, 0);
	space->engine->records_first = 0;
}

void agent_nests_of_thread(struct agent_engine *engine, pid_t tid,
			   uint64_t stopped)
{
	struct agent_space *space = engine->spaces;
	const struct regs *regs;
	struct task *task;
	struct nest nest;

	if (!(engine->mode & AGENT_RECORDS) || !space)
		return;
	task = task_find(engine_space(space->space)->tracer, tid);
	if (!task || !task->tracee || !task->stopped)
		return;
	space = agent_find_space(engine, probe_space_of(task->tracee->space));
	if (!space || !space->agent.shared.memory)
		return;
	regs = task_regs(task);
	if (!regs || !shared_find_nest(&space->agent.shared, regs->user.fs_base,
				       &nest.said))
		return;
	if (stopped > space->nests[nest.said.block].latest)
		space->nests[nest.said.block].latest = stopped;
	if (nest.said.slot) {
		read_frames(space, &nest);
		tell_first(space, &nest);
	} else if (!space->nests[nest.said.block].held) {
		return;
	}
	release_all(space, nest.said.block);
}

/* The thread runs; but where it has written nothing since, it is within them still. */
static void tell_first_of_running(struct agent_space *space, unsigned block)
{
	const struct shared *shared = &space->agent.shared;
	struct nest nest;

	if (!shared->memory || !shared_nest_of(shared, block, &nest.said) ||
	    !nest.said.slot)
		return;
	read_frames(space, &nest);
	if (shared_nest_stands(shared, &nest.said))
		tell_first(space, &nest);
}

static void end_waiting(struct agent_space *space, unsigned block)
{
	tell_first_of_running(space, block);
	release_all(space, block);
}

/* Who waits for longer may wait for another thread, or for ever; until then it is
   likelier that it has no processor. */
#define HELD_MOST (NS_PER_SECOND / 4)

void agent_nests_look(struct agent_engine *engine, uint64_t now)
{
	struct agent_space *space;
	unsigned block;

	for (space = engine->spaces; space; space = space->next)
		for (block = 1; block < SHARED_BLOCKS; block++)
			if (space->nests[block].held &&
			    now - space->nests[block].since > HELD_MOST &&
			    now > space->nests[block].since)
				end_waiting(space, block);
}

void agent_nests_end(struct agent_space *space)
{
	unsigned block;

	for (block = 1; block < SHARED_BLOCKS; block++)
		if (space->nests[block].held)
			end_waiting(space, block);
}
