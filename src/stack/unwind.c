/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/unwind.h"

#include <stdlib.h>

#include "stack/private.h"
#include "tracee/tracer.h"

struct unwinder *unwinder_new(struct stacks *stacks)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->stacks = stacks;
	unwinder->learner = learner_new();
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	struct unwind_space *own, *next;

	if (!unwinder)
		return;
	HASH_ITER(hh, unwinder->spaces, own, next) {
		HASH_DEL(unwinder->spaces, own);
		unwind_space_free(own);
	}
	known_images_free(unwinder->images);
	learner_free(unwinder->learner);
	free(unwinder);
}

void unwinder_flush(struct unwinder *unwinder, struct space *space)
{
	struct unwind_space *own;

	HASH_FIND_PTR(unwinder->spaces, &space, own);
	if (own)
		own->stale = true;
}

void unwinder_forget(struct unwinder *unwinder, struct space *space)
{
	struct unwind_space *own;

	HASH_FIND_PTR(unwinder->spaces, &space, own);
	if (!own)
		return;
	HASH_DEL(unwinder->spaces, own);
	if (unwinder->latest == own)
		unwinder->latest = NULL;
	unwind_space_free(own);
}

/* ---- the walk ---- */

static void begin(struct walk *walk, struct unwind_space *own, pid_t tid,
		  const struct regs *regs, struct memory *memory)
{
	struct space *space = own->space;
	const struct task *task = task_find(space->tracer, tid);

	walk->own = own;
	walk->memory = memory;
	walk->arch = space->arch;
	walk->unknown = 0;
	walk->switched = walk->left = walk->goroutine = 0;
	walk->pid = task && task->tracee ? task->tracee->pid : tid;
	walk->window_address = space->arch->sp(regs);
	walk->window_size = memory_read_some(walk->memory, walk->window_address,
					     walk->window, WINDOW_SIZE);
	space->arch->dwarf->registers(regs, walk->registers);
}

/* What a frame can be found by; the next one is found by one of these. */
struct unwind_position {
	struct code_site *site;
	enum frame_method method; /* that this one was found by */
	bool exact;
};

static enum switching switching_at(const struct unwind_position *position)
{
	if (!position->site->may_switch)
		return SWITCH_NEVER;
	return position->method == FRAME_POINTER ? SWITCH_ANYHOW : SWITCH_NOTED;
}

static enum step step_without_tables(struct walk *walk,
				     struct unwind_position *position)
{
	enum step step;

	if (position->site->is_outermost)
		return STEP_OUTERMOST;
	if (position->site->is_signal_return) {
		position->method = FRAME_SIGNAL;
		return step_from_handler(walk);
	}
	/* A task stands there, or was interrupted. */
	if ((position->site->is_stub || position->method == FRAME_INNERMOST) &&
	    step_from_system_call(walk) == STEP_DONE) {
		position->method = FRAME_ENTRY;
		return STEP_DONE;
	}
	step = step_by_frame_pointer(walk, switching_at(position));
	/* 0 ends a chain of frame pointers; else it's just a number. */
	if (step == STEP_OUTERMOST && position->method != FRAME_POINTER)
		step = STEP_FAILED;
	position->method = FRAME_POINTER;
	return step;
}

static enum step step_outward(struct walk *walk,
			      struct unwind_position *position)
{
	const struct unwind_row *row = position->site->row;
	enum step step;

	if (!row)
		return step_without_tables(walk, position);
	position->method = row->is_signal_frame ? FRAME_SIGNAL : FRAME_CFI;
	step = step_by_row(walk, position->site);
	if (step != STEP_FAILED ||
	    !(walk->unknown & UINT64_C(1) << walk->arch->dwarf->sp))
		return step;
	/* Who has come here by frame pointers goes on by them. */
	position->method = FRAME_POINTER;
	return step_by_frame_pointer(walk, SWITCH_NEVER);
}

/*
 * A return address of 0 is what thread starts without tables push for their
 * function to return to; with the frame pointer at 0, too.
 */
static bool is_end_mark(const struct walk *walk)
{
	return !walk_ip(walk) && !walk->registers[walk->arch->dwarf->fp];
}

/*
 * In a system call the task stands behind the instruction that has made it:
 * where a function ends there, the tables of that instruction are those.
 */
static void find_system_call(struct walk *walk,
			     struct unwind_position *position)
{
	struct code_site *site;

	if (position->site->row)
		return;
	site = site_find(walk->own, walk->pid, walk_ip(walk), false);
	/* That may have moved the other one. */
	position->site = site->row ? site :
				     site_find(walk->own, walk->pid,
					       walk_ip(walk), true);
}

/* A slot's hook may have called the one of all calls of its function: two. */
#define OWN_FRAMES_MOST 4

/* They are no part of the program's stack. */
static void pass_own_frames(struct walk *walk)
{
	unsigned i;

	for (i = 0; i < OWN_FRAMES_MOST &&
		    space_is_own_frame(walk->own->space, walk_ip(walk));
	     i++)
		if (step_over_own_frame(walk) != STEP_DONE)
			break;
}

/* The frame at which the registers are now. False when that is no code. */
static bool arrive(struct walk *walk, struct unwind_position *position,
		   bool at_entry)
{
	const struct code_site *site;

	position->exact = position->method == FRAME_SIGNAL ||
			  position->method == FRAME_INNERMOST;
	if (!position->exact)
		pass_own_frames(walk);
	position->site =
		site_find(walk->own, walk->pid, walk_ip(walk), position->exact);
	if (position->method == FRAME_INNERMOST && !at_entry)
		find_system_call(walk, position);
	site = position->site;
	if (site->is_signal_return || (site->row && site->row->is_signal_frame))
		position->method = FRAME_HANDLED;
	return site->code;
}

uint32_t unwind_frame_number(struct unwinder *unwinder, struct code_site *site,
			     enum frame_method method)
{
	struct frame frame = { site->code, site->address, method };

	if (!site->numbers[method])
		site->numbers[method] =
			stacks_frame_number(unwinder->stacks, &frame);
	return site->numbers[method];
}

/* Fills in the unwinder's frames. */
static enum stack_end walk_outward(struct unwinder *unwinder, unsigned depth,
				   bool at_entry, unsigned *count_ret)
{
	struct walk *walk = &unwinder->walk;
	struct unwind_position position = { .method = FRAME_INNERMOST };
	enum step step;

	*count_ret = 0;
	for (;;) {
		if (!arrive(walk, &position, at_entry))
			return *count_ret && is_end_mark(walk) ?
				       STACK_COMPLETE :
				       STACK_BROKEN;
		unwinder->addresses[*count_ret] = walk_ip(walk);
		unwinder->address_count = *count_ret + 1;
		if (*count_ret == depth)
			return STACK_CUT;
		unwinder->counts.frames[position.method]++;
		unwinder->frames[(*count_ret)++] =
			unwind_frame_number(unwinder, position.site,
					    position.method);
		if (at_entry && *count_ret == 1) {
			step = step_from_entry(walk);
			position.method = FRAME_ENTRY;
		} else {
			step = step_outward(walk, &position);
		}
		if (step != STEP_DONE)
			return step == STEP_OUTERMOST ? STACK_COMPLETE :
							STACK_BROKEN;
	}
}

stack_id unwind_intern(struct unwinder *unwinder, unsigned count,
		       enum stack_end end)
{
	stack_id stack = stacks_begin(end);

	if (!count)
		return STACK_NONE;
	while (count--)
		stack = stacks_extend(unwinder->stacks, stack,
				      unwinder->frames[count]);
	return stack;
}

static void unwind_count(struct unwinder *unwinder, enum stack_end end)
{
	unwinder->counts.stacks++;
	unwinder->counts.cut += end == STACK_CUT;
	unwinder->counts.broken += end == STACK_BROKEN;
}

stack_id unwind_finish(struct unwinder *unwinder, unsigned count,
		       enum stack_end end)
{
	unwind_count(unwinder, end);
	return unwind_intern(unwinder, count, end);
}

stack_id unwind_again(struct unwinder *unwinder, const struct unwind_seen *seen)
{
	if (seen->depth) {
		unwinder->counts.frames[FRAME_ENTRY]++;
		unwinder->counts.frames[FRAME_POINTER] += seen->by_pointer;
		unwinder->counts.frames[FRAME_CFI] +=
			seen->depth - 1 - seen->by_pointer;
	}
	unwind_count(unwinder, seen->end);
	return seen->stack;
}

static unsigned limited(unsigned depth)
{
	return depth > UNWIND_DEPTH_MAX ? UNWIND_DEPTH_MAX : depth;
}

stack_id unwind(struct unwinder *unwinder, struct space *space,
		struct memory *memory, pid_t tid, const struct regs *regs,
		unsigned depth, bool at_entry)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	enum stack_end end;
	unsigned count;

	begin(&unwinder->walk, own, tid, regs, memory);
	end = walk_outward(unwinder, limited(depth), at_entry, &count);
	return unwind_finish(unwinder, count, end);
}

void unwind_look(struct unwinder *unwinder, struct space *space,
		 struct memory *memory, pid_t tid, const struct regs *regs,
		 unsigned depth)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	const struct unwind_counts counts = unwinder->counts;
	unsigned count;

	begin(&unwinder->walk, own, tid, regs, memory);
	(void)walk_outward(unwinder, limited(depth), true, &count);
	unwinder->counts = counts;
}

stack_id unwind_copy(struct unwinder *unwinder, struct space *space, pid_t tid,
		     const struct regs *regs, struct stack_copy *copy,
		     unsigned depth)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	enum stack_end end;
	unsigned count;

	begin(&unwinder->walk, own, tid, regs, &copy->memory);
	copy->was_short = false;
	end = walk_outward(unwinder, limited(depth), false, &count);
	if (end == STACK_BROKEN && copy->was_short)
		end = STACK_CUT;
	return unwind_finish(unwinder, count, end);
}

struct unwind_counts unwind_counts(const struct unwinder *unwinder)
{
	return unwinder->counts;
}
