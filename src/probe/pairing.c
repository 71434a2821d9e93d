/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

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

static void link_frame(struct probe_space *space, struct activation *activation)
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
	if (activation->watch)
		activation->watch->engine->ops->unwatch_return(
			activation->watch);
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

static void emit_return(const struct moment *moment,
			struct activation *activation)
{
	struct memory_before before;
	struct fp_regs fp;
	struct event event = {
		.kind = activation->inherited ? EVENT_CHILD_RETURN :
						EVENT_RETURN,
		.pid = activation->call.pid,
		.tid = moment->tid,
		.time = moment->time,
		.call = &activation->call,
		.regs = moment->regs,
		.fp = fp_return(activation, moment, &fp),
		.end = CALL_RETURNED,
		.cost = prober_cost_since(moment, &activation->call),
	};

	activation->call.memory = stacked_memory(activation, moment, &before);
	outcome_judge(moment, &event);
	prober_emit(moment->space->prober, &event);
	activation->call.memory = moment->memory;
}

/* Most calls are over before the next one begins: one is kept for that. */
static struct activation *take_activation(struct prober *prober)
{
	struct activation *spare = prober->spare;

	if (!spare)
		return xcalloc(1, sizeof(*spare));
	prober->spare = NULL;
	memset(spare, 0, sizeof(*spare));
	return spare;
}

static void activation_free(struct prober *prober,
			    struct activation *activation)
{
	script_frames_free(activation->call.script);
	free(activation->fp);
	if (prober->spare)
		free(activation);
	else
		prober->spare = activation;
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
	activation_free(space->prober, activation);
}

void pairing_abandon_stack(struct probe_space *space, struct call_stack *stack,
			   enum call_end end, uint64_t time)
{
	while (stack->top)
		abandon(space, stack->top, end, time);
}

/* Sinks may look at what the call has written until then. */
static void abandon_at(const struct moment *moment,
		       struct activation *activation, enum call_end end)
{
	activation->call.memory = moment->memory;
	abandon(moment->space, activation, end, moment->time);
}

void pairing_abandon_frames(const struct moment *moment, taddr_t from,
			    taddr_t limit, enum call_end end)
{
	struct call_stack *stack = &moment->calls->stack;

	while (stack->top && frame_is_below(&stack->top->key, limit) &&
	       stack->top->key.slot >= from)
		abandon_at(moment, stack->top, end);
}

static bool is_told_by(const struct activation *activation,
		       const struct engine *engine)
{
	return activation->watch && activation->watch->engine == engine;
}

/*
 * Something has been written where its return address was. (Where a function
 * saves that itself, nobody knows the place: such a frame is dropped when its
 * task ends, or another call has it.)
 */
static bool is_overwritten(const struct moment *moment,
			   const struct activation *activation)
{
	struct memory *memory = moment->memory;
	uint64_t word;

	if (moment->arch->returns_by_register)
		return false;
	/* What traps will tell of hasn't returned by now either. */
	if (moment->alone && is_told_by(activation, moment->engine))
		return false;
	if (moment->alone)
		memory = &engine_space(moment->space)->memory.memory;
	return memory_read_word(memory, activation->key.slot,
				moment->arch->word_size, &word) ||
	       space_true_return(engine_space(moment->space),
				 activation->key.slot,
				 word) != activation->call.return_address;
}

/*
 * The task runs in the frame at slot: what it has called from there is over.
 * Unless it isn't the same stack; so, without an unwinding that explains it,
 * only frames go whose return address has been overwritten.
 */
static void drop_dead_frames(const struct moment *moment, taddr_t slot)
{
	struct task_calls *calls = moment->calls;
	struct call_stack *stack = &calls->stack;

	if (calls->unwinding && slot > calls->unwind_sp) {
		if (moment->ops->is_one_mapping(moment, calls->unwind_sp, slot))
			pairing_abandon_frames(moment, calls->unwind_sp, slot,
					       calls->unwinding);
	}
	while (stack->top && frame_is_below(&stack->top->key, slot) &&
	       is_overwritten(moment, stack->top))
		abandon_at(moment, stack->top, CALL_LONGJMP);
}

/* Activations of the frame that is entered anew belong to the past. */
static void drop_frame(const struct moment *moment, const struct frame_key *key,
		       enum call_end end)
{
	struct activation *activation;

	while ((activation = find_own(moment->space, key, moment->pid)))
		abandon_at(moment, activation, end);
}

/*
 * Its return got lost, or a handler has jumped out of it: what is entered there
 * is another one. Tail callers that another engine has caught stay; of a thread that
 * had the stack before, its end will tell.
 */
void pairing_forget_frame(const struct moment *moment)
{
	const taddr_t slot = moment->arch->return_slot(moment->regs);
	const struct task_calls *calls = moment->calls;
	const bool unwound = calls->unwinding && slot > calls->unwind_sp;
	const struct frame_key key = frame_key(moment, slot);
	struct activation *newest;

	if (key.stack)
		return;
	drop_dead_frames(moment, slot);
	while ((newest = find_own(moment->space, &key, moment->pid)) &&
	       newest->engine == moment->engine &&
	       newest->stack == &moment->calls->stack)
		abandon_at(moment, newest,
			   unwound ? calls->unwinding : CALL_UNSEEN);
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
static bool settle_frame(const struct moment *moment,
			 const struct frame_key *key,
			 const struct function *function,
			 taddr_t return_address)
{
	struct task_calls *calls = moment->calls;
	struct activation *older = find_own(moment->space, key, moment->pid);

	if (!older)
		return false;
	if (older->call.return_address != return_address) {
		drop_frame(moment, key,
			   calls->unwinding ? calls->unwinding : CALL_LONGJMP);
		return false;
	}
	if (!frame_runs(older, function))
		return false;
	if (key->stack)
		return true;
	if (calls->unwinding && key->slot > calls->unwind_sp)
		drop_frame(moment, key, calls->unwinding);
	return false;
}

/* The first hit above the place where the unwinding began has seen to it. */
static void end_unwinding(const struct moment *moment, taddr_t slot)
{
	struct task_calls *calls = moment->calls;

	if (calls->unwinding && slot > calls->unwind_sp)
		calls->unwinding = CALL_RETURNED;
}

/* Calls on stacks that move belong to no task; their depth isn't known. */
static struct call_stack *stack_of(const struct moment *moment,
				   const struct frame_key *key)
{
	return key->stack ? &moment->space->moving : &moment->calls->stack;
}

static struct activation *activation_new(const struct moment *moment,
					 const struct frame_key *key,
					 taddr_t return_address)
{
	struct activation *activation = take_activation(moment->space->prober);
	struct call_stack *stack = stack_of(moment, key);

	activation->key = *key;
	activation->engine = moment->engine;
	activation->call = (struct call){
		.pid = moment->pid,
		.tid = moment->tid,
		.depth = key->stack ? 0 : stack->depth,
		.arch = moment->arch,
		.memory = moment->memory,
		.return_address = return_address,
		.entry = *moment->regs,
		.time = moment->time,
		.stops = moment->stops,
		.chosen = moment->chosen,
		.clock = moment->clock,
		.untimed = moment->untimed,
	};
	return activation;
}

/* The call goes on the lists until it returns. */
static void start(const struct moment *moment, struct activation *activation)
{
	link_frame(moment->space, activation);
	push(stack_of(moment, &activation->key), activation);
	if (moment->past)
		activation->call.memory = memory_unreachable();
}

/*
 * Who calls from above it in the same stack isn't within it: it was jumped out of, unseen
 * (__builtin_longjmp), and what is called below it later isn't either. Whether the stack
 * is the same, of coroutines, isn't known for sure: so it may still return.
 */
static bool is_left(const struct moment *moment, struct activation *activation,
		    taddr_t slot)
{
	if (!activation->left && frame_is_below(&activation->key, slot))
		activation->left =
			moment->ops->is_one_mapping(moment,
						    activation->key.slot, slot);
	return activation->left;
}

/* Within a call that stands for it, as operator new does for malloc. */
static bool is_inner(const struct moment *moment,
		     const struct function *function, taddr_t slot)
{
	struct activation *activation;

	if (!function->group)
		return false;
	for (activation = moment->calls->stack.top; activation;
	     activation = activation->outer) {
		const struct function *outer = activation->call.function;

		if (activation->kind != ACTIVATION_CALL ||
		    is_left(moment, activation, slot))
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
	activation->watch =
		engine_watch_return(activation->engine, space, call);
	if (activation->watch)
		return CALL_RETURNED;
	if (code_place_of(space, call->return_address) == PLACE_DATA)
		return CALL_NEVER_RETURNS;
	space->prober->counts.failed_returns++;
	return CALL_UNSEEN;
}

void pairing_enter_call(const struct moment *moment,
			const struct function *function, taddr_t return_address,
			bool jumped)
{
	struct probe_space *space = moment->space;
	struct prober *prober = space->prober;
	taddr_t slot = moment->arch->return_slot(moment->regs);
	struct frame_key key = frame_key(moment, slot);
	struct activation *activation;
	enum call_end end;
	bool within;

	if (!moment->past)
		engines_catch_up(prober, moment->time, moment->tid);
	drop_dead_frames(moment, slot);
	if (settle_frame(moment, &key, function, return_address))
		return;
	end_unwinding(moment, slot);
	within = !key.stack && (is_inner(moment, function, slot) ||
				engines_passed_over(moment, function->group));
	if (within && !function->within_too)
		return;
	if (unwatched_goes_on(moment, function, slot, return_address))
		return;
	function_called(prober, function);
	activation = activation_new(moment, &key, return_address);
	activation->call.function = function;
	activation->call.within = within;
	activation->jumped = jumped;
	activation->call.id = ++prober->last_call_id;
	activation->call.stack = prober_callers(moment, true);
	activation->call.script = script_where(moment);
	fp_enter(activation, moment);
	if (!function->entry_only)
		stacked_enter(activation, moment);
	prober->counts.calls++;
	end = watch_return(space, activation);
	emit_call(space, EVENT_CALL, activation, moment->tid, moment->time,
		  CALL_RETURNED);
	if (activation->watch) {
		start(moment, activation);
		return;
	}
	emit_call(space, EVENT_ABANDON, activation, moment->tid, moment->time,
		  end);
	if (end == CALL_UNWATCHED && function->group && !key.stack)
		unwatched_note(moment, activation);
	activation_free(prober, activation);
}

const struct function *pairing_jumped_to(const struct moment *moment,
					 taddr_t return_address)
{
	struct frame_key key =
		frame_key(moment, moment->arch->return_slot(moment->regs));
	struct activation *newest = find_own(moment->space, &key, moment->pid);

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

void pairing_enter_resolver(const struct moment *moment, struct ifunc *ifunc)
{
	struct probe_space *space = moment->space;
	taddr_t slot = moment->arch->return_slot(moment->regs);
	struct frame_key key = frame_key(moment, slot);
	struct activation *activation;
	uint64_t return_address;

	if (moment_return_address(moment, &return_address))
		return;
	/* What was called before isn't within it. */
	if (!moment->past)
		engines_catch_up(space->prober, moment->time, moment->tid);
	activation = activation_new(moment, &key, return_address);
	activation->kind = ACTIVATION_RESOLVER;
	activation->ifunc = ifunc;
	activation->watch =
		engine_watch_return(moment->engine, space, &activation->call);
	if (!activation->watch) {
		activation_free(space->prober, activation);
		return;
	}
	show_resolver(space, activation, ifunc);
	start(moment, activation);
}

void pairing_inherit(const struct moment *child,
		     const struct activation *activation)
{
	struct activation *copy = xmalloc(sizeof(*copy));
	struct call *call = &copy->call;

	*copy = *activation;
	copy->inherited = true;
	copy->watch = NULL;
	copy->ifunc = NULL;
	if (activation->fp) {
		copy->fp = xmalloc(sizeof(*copy->fp));
		*copy->fp = *activation->fp;
		call->entry_fp = copy->fp;
	}
	call->pid = child->pid;
	call->tid = child->tid;
	call->memory = child->memory;
	call->script = NULL;
	call->stops = child->stops;
	link_frame(child->space, copy);
	push(&child->calls->stack, copy);
}

void pairing_watch_inherited(struct probe_space *space)
{
	struct activation *newest, *next, *a;

	HASH_ITER(hh, space->activations, newest, next)
		for (a = newest; a; a = a->same_frame)
			if (a->inherited && !a->watch)
				a->watch = engine_watch_return(a->engine, space,
							       &a->call);
}

static void returned(const struct moment *moment, struct activation *activation)
{
	struct probe_space *space = moment->space;

	finish(space, activation);
	if (moment->chosen.choice)
		activation->call.chosen = moment->chosen;
	if (is_shown(activation))
		emit_return(moment, activation);
	if (activation->ifunc)
		ifunc_resolved(space, activation->ifunc,
			       moment->arch->result(moment->regs));
	activation_free(space->prober, activation);
}

/*
 * The frame that has just returned to the address. i386 functions may pop arguments
 * (ret N: a struct result's address, stdcall), which puts the stack pointer
 * further up.
 */
#define POPPED_MAX 64

static struct activation *find_returned(const struct moment *moment,
					taddr_t return_address)
{
	const struct arch_ops *arch = moment->arch;
	taddr_t sp = arch->sp(moment->regs);
	taddr_t slot = sp - arch->word_size;
	taddr_t lowest = arch->word_size == 4 ? slot - POPPED_MAX : slot;

	for (; slot >= lowest && slot <= sp; slot -= arch->word_size) {
		struct frame_key key = frame_key(moment, slot);
		struct activation *activation =
			find_own(moment->space, &key, moment->pid);

		if (activation &&
		    activation->call.return_address == return_address)
			return activation;
	}
	return NULL;
}

/*
 * What traps have told of returns at its own stop, when its memory can be read; so do
 * its tail callers, whoever has told of them.
 */
static bool returns_later(const struct moment *moment,
			  const struct activation *activation)
{
	return moment->alone && activation->watch &&
	       activation->engine != moment->engine;
}

bool pairing_return(const struct moment *moment, taddr_t return_address)
{
	struct activation *activation;
	struct frame_key key;

	if (!moment->past)
		engines_catch_up(moment->space->prober, moment->time,
				 moment->tid);
	activation = find_returned(moment, return_address);
	if (!activation)
		return false;
	key = activation->key;
	drop_dead_frames(moment, key.slot);
	end_unwinding(moment, key.slot);
	/* Tail callers return in the same breath; the newest first. */
	while ((activation = find_own(moment->space, &key, moment->pid)) &&
	       activation->call.return_address == return_address &&
	       !returns_later(moment, activation))
		returned(moment, activation);
	return true;
}

void pairing_forget_watch(struct probe_space *space,
			  const struct return_watch *watch)
{
	struct activation *activation, *next;

	HASH_ITER(hh, space->activations, activation, next) {
		struct activation *a;

		for (a = activation; a; a = a->same_frame)
			if (a->watch == watch)
				a->watch = NULL;
	}
}

/* One that is over and isn't told of yet may have returned to what is gone. */
static bool has_own_address(const struct probe_space *space,
			    const struct activation *activation)
{
	struct memory *memory = &engine_space(space)->memory.memory;
	uint64_t word;

	return module_find(engine_space(space),
			   activation->call.return_address) &&
	       !memory_read_word(memory, activation->key.slot,
				 activation->call.arch->word_size, &word) &&
	       word == activation->call.return_address;
}

void pairing_watch_otherwise(struct probe_space *space,
			     struct return_watch *watch, pid_t tid, taddr_t low,
			     taddr_t high)
{
	struct activation *newest, *next, *a;

	HASH_ITER(hh, space->activations, newest, next)
		for (a = newest; a; a = a->same_frame)
			if (a->watch == watch &&
			    (!tid || a->call.tid == tid ||
			     (a->key.slot >= low && a->key.slot < high &&
			      has_own_address(space, a))))
				a->watch =
					engine_watch_return(watch->engine->next,
							    space, &a->call);
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
