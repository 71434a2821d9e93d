/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"

/*
 * Entries are paired with returns by the frame: the place on the stack where
 * the return address lies. A task only tells which frame it is in; coroutines
 * and goroutines return on another thread than they were called on.
 */

static struct activation *find_frame(struct probe_space *space,
				     const struct frame_key *key)
{
	struct activation *activation;

	HASH_FIND(hh, space->activations, key, sizeof(*key), activation);
	return activation;
}

/*
 * The newest of one process: a vfork child runs in the frames of its parent,
 * and their lives overlap (the parent returns before the child's exec is
 * reported).
 */
static struct activation *find_own(struct probe_space *space,
				   const struct frame_key *key, pid_t pid)
{
	struct activation *activation = find_frame(space, key);

	while (activation && activation->call.pid != pid)
		activation = activation->same_frame;
	return activation;
}

static void link_frame(struct probe_space *space,
		       struct activation *activation)
{
	struct activation *older = find_frame(space, &activation->key);

	if (older)
		HASH_DEL(space->activations, older);
	activation->same_frame = older;
	HASH_ADD(hh, space->activations, key, sizeof(activation->key),
		 activation);
}

static void unlink_frame(struct probe_space *space,
			 struct activation *activation)
{
	struct activation *newest = find_frame(space, &activation->key), *a;

	if (newest == activation) {
		HASH_DEL(space->activations, activation);
		if (activation->same_frame)
			HASH_ADD(hh, space->activations, key,
				 sizeof(activation->key),
				 activation->same_frame);
		return;
	}
	for (a = newest; a && a->same_frame != activation; a = a->same_frame)
		;
	if (a)
		a->same_frame = activation->same_frame;
}

static void push(struct call_stack *stack, struct activation *activation)
{
	activation->stack = stack;
	activation->outer = stack->top;
	if (stack->top)
		stack->top->inner = activation;
	stack->top = activation;
	stack->depth++;
}

static void take_out(struct activation *activation)
{
	struct call_stack *stack = activation->stack;

	if (activation->inner)
		activation->inner->outer = activation->outer;
	else
		stack->top = activation->outer;
	if (activation->outer)
		activation->outer->inner = activation->inner;
	stack->depth--;
}

/* Off all lists; still to be freed. */
static void finish(struct probe_space *space, struct activation *activation)
{
	unlink_frame(space, activation);
	take_out(activation);
	if (activation->site)
		return_site_put(activation->site);
}

static void emit_call(struct probe_space *space, enum event_kind kind,
		      const struct activation *activation, pid_t tid,
		      uint64_t time, enum call_end end)
{
	struct event event = {
		.kind = kind,
		.pid = activation->call.pid,
		.tid = tid,
		.time = time,
		.call = &activation->call,
		.end = end,
	};

	prober_emit(space->prober, &event);
}

static void emit_return(struct probe_space *space, struct task *task,
			const struct activation *activation)
{
	struct fp_regs fp;
	struct event event = {
		.kind = activation->inherited ? EVENT_CHILD_RETURN :
						EVENT_RETURN,
		.pid = activation->call.pid,
		.tid = task->tid,
		.time = task->stop_time,
		.call = &activation->call,
		.regs = &task->regs,
		.fp = fp_return(activation, task, &fp),
		.end = CALL_RETURNED,
		.cost = prober_cost_since(task, &activation->call),
	};

	outcome_judge(space, task, &event);
	prober_emit(space->prober, &event);
}

static void activation_free(struct activation *activation)
{
	script_frames_free(activation->call.script);
	free(activation->fp);
	free(activation);
}

/* Whether it is a call, for sinks. */
static bool is_shown(const struct activation *activation)
{
	return activation->call.function;
}

static void abandon(struct probe_space *space, struct activation *activation,
		    enum call_end end, uint64_t time)
{
	finish(space, activation);
	if (is_shown(activation) && !activation->inherited)
		emit_call(space, EVENT_ABANDON, activation,
			  activation->call.tid, time, end);
	activation_free(activation);
}

void pairing_abandon_stack(struct probe_space *space, struct call_stack *stack,
			   enum call_end end, uint64_t time)
{
	while (stack->top)
		abandon(space, stack->top, end, time);
}

void pairing_abandon_frames(struct task *task, taddr_t from, taddr_t limit,
			    enum call_end end)
{
	struct probe_space *space = probe_space_of(task->tracee->space);
	struct call_stack *stack = &task_calls_of(task)->stack;

	while (stack->top && frame_is_below(&stack->top->key, limit) &&
	       stack->top->key.slot >= from)
		abandon(space, stack->top, end, task->stop_time);
}

/* Something has been written where its return address was. */
static bool is_overwritten(struct probe_space *space,
			   const struct activation *activation)
{
	struct space *remote = space->space;
	uint64_t word;

	return memory_read_word(&remote->memory.memory, activation->key.slot,
				remote->arch->word_size, &word) ||
	       word != activation->call.return_address;
}

/*
 * The task runs in the frame at slot: what it has called from there is over.
 * Unless it isn't the same stack; so, without an unwinding that explains it,
 * only frames go whose return address has been overwritten.
 */
static void drop_dead_frames(struct probe_space *space, struct task *task,
			     taddr_t slot)
{
	struct task_calls *calls = task_calls_of(task);
	struct call_stack *stack = &calls->stack;

	if (calls->unwinding && slot > calls->unwind_sp) {
		if (stack_is_one(space, calls->unwind_sp, slot))
			pairing_abandon_frames(task, calls->unwind_sp, slot,
					       calls->unwinding);
	}
	while (stack->top && frame_is_below(&stack->top->key, slot) &&
	       is_overwritten(space, stack->top))
		abandon(space, stack->top, CALL_LONGJMP, task->stop_time);
}

/* Activations of the frame that is entered anew belong to the past. */
static void drop_frame(struct probe_space *space, struct task *task,
		       const struct frame_key *key, enum call_end end)
{
	struct activation *activation;

	while ((activation = find_own(space, key, task->tracee->pid)))
		abandon(space, activation, end, task->stop_time);
}

static bool frame_runs(const struct activation *newest,
		       const struct function *function)
{
	for (; newest; newest = newest->same_frame)
		if (newest->kind == ACTIVATION_CALL &&
		    newest->call.function == function)
			return true;
	return false;
}

/*
 * Whether an entry is to be passed over. An older activation in the same
 * frame is a tail caller if it returns to the same place. After an unwinding
 * it may as well be a call that was thrown away and is now repeated: then it
 * is of the same function. On a stack that is moved, that is one that begins
 * anew (see frame.c).
 */
static bool settle_frame(struct probe_space *space, struct task *task,
			 const struct frame_key *key,
			 const struct function *function,
			 taddr_t return_address)
{
	struct task_calls *calls = task_calls_of(task);
	struct activation *older =
		find_own(space, key, task->tracee->pid);

	if (!older)
		return false;
	if (older->call.return_address != return_address) {
		drop_frame(space, task, key,
			   calls->unwinding ? calls->unwinding : CALL_LONGJMP);
		return false;
	}
	if (!frame_runs(older, function))
		return false;
	if (key->stack)
		return true;
	if (calls->unwinding && key->slot > calls->unwind_sp)
		drop_frame(space, task, key, calls->unwinding);
	return false;
}

/* The first hit above the place where the unwinding began has seen to it. */
static void end_unwinding(struct task *task, taddr_t slot)
{
	struct task_calls *calls = task_calls_of(task);

	if (calls->unwinding && slot > calls->unwind_sp)
		calls->unwinding = CALL_RETURNED;
}

/* Calls on stacks that move belong to no task; their depth isn't known. */
static struct call_stack *stack_of(struct probe_space *space,
				   struct task *task,
				   const struct frame_key *key)
{
	return key->stack ? &space->moving : &task_calls_of(task)->stack;
}

static struct activation *
activation_new(struct probe_space *space, struct task *task,
	       const struct frame_key *key, taddr_t return_address)
{
	struct activation *activation = xcalloc(1, sizeof(*activation));
	struct space *remote = space->space;
	struct call_stack *stack = stack_of(space, task, key);

	activation->key = *key;
	activation->call = (struct call){
		.pid = task->tracee->pid,
		.tid = task->tid,
		.depth = key->stack ? 0 : stack->depth,
		.arch = remote->arch,
		.memory = &remote->memory.memory,
		.return_address = return_address,
		.entry = task->regs,
		.time = task->stop_time,
		.stopped_ns = task->stopped_ns,
		.stops = task->stops,
	};
	return activation;
}

/* The call goes on the lists until it returns. */
static void start(struct probe_space *space, struct task *task,
		  struct activation *activation)
{
	link_frame(space, activation);
	push(stack_of(space, task, &activation->key), activation);
}

/* Within a call that stands for it, as operator new does for malloc. */
static bool is_inner(const struct call_stack *stack,
		     const struct function *function)
{
	const struct activation *activation;

	if (!function->group)
		return false;
	for (activation = stack->top; activation;
	     activation = activation->outer) {
		const struct function *outer = activation->call.function;

		if (activation->kind != ACTIVATION_CALL)
			continue;
		if (outer->group == function->group || outer->apart)
			return !outer->apart;
	}
	return false;
}

/*
 * Has the return watched if anybody wants to know of it; else says how the call
 * ends for us.
 */
static enum call_end watch_return(struct probe_space *space,
				  struct activation *activation)
{
	const struct call *call = &activation->call;

	if (call->function->entry_only)
		return CALL_UNWATCHED;
	if (call->function->returns == RETURNS_NEVER)
		return CALL_NEVER_RETURNS;
	activation->site = return_site_get(space, call->return_address);
	if (activation->site)
		return CALL_RETURNED;
	if (!return_site_is_code(space, call->return_address))
		return CALL_NEVER_RETURNS;
	space->prober->counts.failed_returns++;
	return CALL_UNSEEN;
}

void pairing_enter_call(struct probe_space *space, struct task *task,
			const struct function *function,
			taddr_t return_address, bool jumped)
{
	struct prober *prober = space->prober;
	taddr_t slot = space->space->arch->return_slot(&task->regs);
	struct frame_key key = frame_key(space, &task->regs, slot);
	struct activation *activation;
	enum call_end end;
	bool within;

	drop_dead_frames(space, task, slot);
	if (settle_frame(space, task, &key, function, return_address))
		return;
	end_unwinding(task, slot);
	within = !key.stack && is_inner(&task_calls_of(task)->stack, function);
	if (within && !function->within_too)
		return;
	if (unwatched_goes_on(space, task, function, slot, return_address))
		return;
	function_called(prober, function);
	activation = activation_new(space, task, &key, return_address);
	activation->call.function = function;
	activation->call.within = within;
	activation->jumped = jumped;
	activation->call.id = ++prober->last_call_id;
	activation->call.stack = prober_callers(prober, task, true);
	activation->call.script = script_where(space, task);
	fp_enter(activation, task);
	prober->counts.calls++;
	end = watch_return(space, activation);
	emit_call(space, EVENT_CALL, activation, task->tid, task->stop_time,
		  CALL_RETURNED);
	if (activation->site) {
		start(space, task, activation);
		return;
	}
	emit_call(space, EVENT_ABANDON, activation, task->tid,
		  task->stop_time, end);
	if (end == CALL_UNWATCHED && function->group && !key.stack)
		unwatched_note(space, task, activation);
	activation_free(activation);
}

const struct function *pairing_jumped_to(struct probe_space *space,
					 struct task *task,
					 taddr_t return_address)
{
	struct frame_key key =
		frame_key(space, &task->regs,
			  space->space->arch->return_slot(&task->regs));
	struct activation *newest =
		find_own(space, &key, task->tracee->pid);

	return newest && newest->jumped &&
			       newest->call.return_address == return_address ?
		       newest->call.function :
		       NULL;
}

static void show_resolver(struct probe_space *space,
			  struct activation *activation, struct ifunc *ifunc)
{
	struct call *call = &activation->call;

	call->function = ifunc_take_shown(ifunc);
	if (!call->function)
		return;
	call->id = ++space->prober->last_call_id;
	space->prober->counts.calls++;
	emit_call(space, EVENT_CALL, activation, call->tid, call->time,
		  CALL_RETURNED);
}

void pairing_enter_resolver(struct probe_space *space, struct task *task,
			    struct ifunc *ifunc)
{
	struct space *remote = space->space;
	taddr_t slot = remote->arch->return_slot(&task->regs);
	struct frame_key key = frame_key(space, &task->regs, slot);
	struct activation *activation;
	uint64_t return_address;

	if (memory_read_word(&remote->memory.memory, slot,
			     remote->arch->word_size, &return_address))
		return;
	activation = activation_new(space, task, &key, return_address);
	activation->kind = ACTIVATION_RESOLVER;
	activation->ifunc = ifunc;
	activation->site = return_site_get(space, return_address);
	if (!activation->site) {
		activation_free(activation);
		return;
	}
	start(space, task, activation);
	show_resolver(space, activation, ifunc);
}

void pairing_inherit(struct probe_space *space, struct task *child,
		     const struct activation *activation)
{
	struct activation *copy = xmalloc(sizeof(*copy));
	struct call *call = &copy->call;

	*copy = *activation;
	copy->inherited = true;
	copy->site = NULL;
	copy->ifunc = NULL;
	if (activation->fp) {
		copy->fp = xmalloc(sizeof(*copy->fp));
		*copy->fp = *activation->fp;
		call->entry_fp = copy->fp;
	}
	call->pid = child->tracee->pid;
	call->tid = child->tid;
	call->memory = &space->space->memory.memory;
	call->script = NULL;
	call->stopped_ns = child->stopped_ns;
	link_frame(space, copy);
	push(&task_calls_of(child)->stack, copy);
}

void pairing_watch_inherited(struct probe_space *space)
{
	struct activation *newest, *next, *a;

	HASH_ITER(hh, space->activations, newest, next)
		for (a = newest; a; a = a->same_frame)
			if (a->inherited && !a->site)
				a->site = return_site_get(
					space, a->call.return_address);
}

static void returned(struct probe_space *space, struct task *task,
		     struct activation *activation)
{
	finish(space, activation);
	if (is_shown(activation))
		emit_return(space, task, activation);
	if (activation->ifunc)
		ifunc_resolved(space, activation->ifunc,
			       space->space->arch->result(&task->regs));
	activation_free(activation);
}

/*
 * The frame that has just returned to site. i386 functions may pop arguments
 * (ret N: a struct result's address, stdcall), which puts the stack pointer
 * further up.
 */
#define POPPED_MAX 64

static struct activation *find_returned(struct probe_space *space,
					struct task *task,
					const struct return_site *site)
{
	const struct arch_ops *arch = space->space->arch;
	taddr_t sp = arch->sp(&task->regs);
	taddr_t slot = sp - arch->word_size;
	taddr_t lowest = arch->word_size == 4 ? slot - POPPED_MAX : slot;

	for (; slot >= lowest && slot <= sp; slot -= arch->word_size) {
		struct frame_key key = frame_key(space, &task->regs, slot);
		struct activation *activation =
			find_own(space, &key, task->tracee->pid);

		if (activation &&
		    activation->call.return_address == site->address)
			return activation;
	}
	return NULL;
}

void pairing_return(struct probe_space *space, struct task *task,
		    struct return_site *site)
{
	struct activation *activation = find_returned(space, task, site);
	struct frame_key key;

	if (!activation) {
		return_site_idle(site);
		return;
	}
	key = activation->key;
	drop_dead_frames(space, task, key.slot);
	end_unwinding(task, key.slot);
	/* Tail callers return in the same breath; the newest first. */
	while ((activation = find_own(space, &key, task->tracee->pid)) &&
	       activation->call.return_address == site->address)
		returned(space, task, activation);
	if (!site->in_module)
		return_site_idle(site);
}

void pairing_forget_site(struct probe_space *space,
			 const struct return_site *site)
{
	struct activation *activation, *next;

	HASH_ITER(hh, space->activations, activation, next) {
		struct activation *a;

		for (a = activation; a; a = a->same_frame)
			if (a->site == site)
				a->site = NULL;
	}
}

void pairing_forget_ifunc(struct probe_space *space, const struct ifunc *ifunc)
{
	struct activation *activation, *next;

	HASH_ITER(hh, space->activations, activation, next) {
		struct activation *a;

		for (a = activation; a; a = a->same_frame)
			if (a->ifunc == ifunc)
				a->ifunc = NULL;
	}
}
