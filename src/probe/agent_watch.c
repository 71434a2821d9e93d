/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "sysdeps/linux/procfs.h"

/*
 * Watched calls: entries and returns of all threads become moments, in the
 * order of their stamps, and go the way that those of stops go. What the agent
 * could not tell has hit the trap; there it is learned for the next time.
 */

/* ---- moments of what is past ---- */

/* All that is known of the memory of then. */
struct known_word {
	struct memory memory;
	taddr_t address;
	uint64_t value;
};

static size_t read_known(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	const struct known_word *word = (struct known_word *)memory;

	if (address != word->address)
		return 0;
	if (size > sizeof(word->value))
		size = sizeof(word->value);
	memcpy(ret, &word->value, size);
	return size;
}

static const struct memory_ops known_ops = { .read = read_known };

static int past_fp_regs(const struct moment *moment, struct fp_regs *ret)
{
	if (!moment->fp)
		return -ENODATA;
	*ret = *moment->fp;
	return 0;
}

const struct moment_ops agent_past_ops = {
	.fp_regs = past_fp_regs,
	.is_one_mapping = mapping_is_one,
};

static struct regs entry_regs(const struct watched_call *call)
{
	return (struct regs){ .user = {
				      .rip = call->point->point->address,
				      .rsp = call->slot,
				      .rdi = call->arguments[0],
				      .rsi = call->arguments[1],
				      .rdx = call->arguments[2],
			      } };
}

static struct regs return_regs(const struct watched_call *call)
{
	return (struct regs){ .user = {
				      .rip = call->return_address,
				      .rsp = call->slot + sizeof(uint64_t),
				      .rax = call->result,
			      } };
}

/* ---- telling ---- */

/* Both of its times are the clock's; else they are some time ago. */
static bool is_timed(const struct agent_space *space,
		     const struct watched_call *call)
{
	return !space->may_lag || call->began & AGENT_TIMED;
}

static void tell_moment(struct agent_engine *engine,
			const struct watched_call *call, struct task *task)
{
	struct agent_space *space = call->point->space;
	const bool returns = call->kind == AGENT_WATCH_RETURN;
	const struct regs regs = returns ? return_regs(call) : entry_regs(call);
	struct known_word word = {
		.memory.ops = &known_ops,
		.address = call->stored_at ? call->stored_at : call->slot,
		.value = call->stored_at ? call->stored : call->return_address,
	};
	const struct moment moment = {
		.space = space->space,
		.pid = task->tracee->pid,
		.tid = call->tid,
		.arch = &arch_x86_64,
		.regs = &regs,
		.memory = &word.memory,
		.past = true,
		.time = ticks_to_ns(&engine->ticks, call->time),
		.calls = task_calls_of(task),
		.engine = &engine->engine,
		.muted = task->tracee->muted,
		.chosen = call->chosen,
		.untimed = !is_timed(space, call),
		.ops = &agent_past_ops,
		.callers = &call->stack,
	};

	if (returns) {
		(void)pairing_return(&moment, call->return_address);
		return;
	}
	if (!call->tail_call)
		pairing_forget_frame(&moment);
	call->point->point->ops->reached(call->point->point, &moment);
}

/* Mostly the one of the call before. */
static struct task *task_of(const struct watched_call *call,
			    struct task *former)
{
	struct space *space = call->point->space->space->space;

	return former && former->tid == call->tid ?
		       former :
		       task_find(space->tracer, call->tid);
}

/* What is told of one list. */
struct watched_telling {
	struct agent_engine *engine;
	struct watched_list *list;
	uint64_t until;    /* ticks */
	struct task *task; /* of the last call; or NULL */
	struct whole_run run;
};

static void tell_run(struct watched_telling *telling)
{
	whole_tell(telling->list->space->space, &telling->run);
}

/* Soon, with others; false where that can't be done. Member by member, as fill_in(). */
static bool add_whole(struct watched_telling *telling,
		      const struct watched_call *call)
{
	const struct ticks *ticks = &telling->engine->ticks;
	struct task *task = telling->task;
	struct whole_call *whole;
	unsigned i;

	_Static_assert(WHOLE_ARGUMENTS == AGENT_WATCHED_ARGUMENTS, "all");
	if (telling->run.count == WHOLE_RUN)
		tell_run(telling);
	whole = &telling->run.calls[telling->run.count];
	whole->function = call->point->point->function;
	whole->pid = task->tracee->pid;
	whole->tid = call->tid;
	whole->time = ticks_to_ns(ticks, call->began);
	whole->end = call->ended ? ticks_to_ns(ticks, call->ended) : 0;
	for (i = 0; i < WHOLE_ARGUMENTS; i++)
		whole->arguments[i] = call->arguments[i];
	whole->result = call->result;
	whole->stack = call->stack;
	whole->untimed = !is_timed(telling->list->space, call);
	return whole_add(telling->list->space->space, task, &telling->run,
			 call->slot, call->return_address);
}

/* The pieces that it was made of. */
static void tell_pieces(struct watched_telling *telling,
			const struct watched_call *call)
{
	struct watched_call piece = *call;

	piece.time = call->began;
	tell_moment(telling->engine, &piece, telling->task);
	piece.kind = AGENT_WATCH_RETURN;
	piece.time = call->ended;
	if (call->ended)
		tell_moment(telling->engine, &piece, telling->task);
}

/* Nobody knows its thread any more, or not yet. */
static bool is_unknown(const struct agent_space *space, const struct task *task)
{
	return !task || !task->tracee ||
	       probe_space_of(task->tracee->space) != space->space;
}

static void tell_call(struct watched_telling *telling,
		      const struct watched_call *call)
{
	struct agent_space *space = telling->list->space;

	telling->task = task_of(call, telling->task);
	if (is_unknown(space, telling->task)) {
		space->untold++;
		return;
	}
	if (call->whole && add_whole(telling, call))
		return;
	tell_run(telling);
	if (call->whole)
		tell_pieces(telling, call);
	else
		tell_moment(telling->engine, call, telling->task);
}

/* ---- reading ---- */

/* What is read, and what of that isn't over. */
struct watched_reading {
	struct watched_list *list;
	struct open_calls open;
};

/* What can't be marked is left after all: nobody would hear of its release. */
static struct call_chosen chosen_of(const struct agent_watched *watched)
{
	if (watched->kind == AGENT_WATCH_RETURN)
		return (struct call_chosen){
			.choice = watched->unmarked ? CALL_LEFT : CALL_OPEN,
		};
	return agent_call_chosen(watched->choice, watched->rate);
}

/* Member by member: there is one for each call. */
static void fill_in(struct watched_call *call,
		    const struct agent_watched *watched)
{
	call->kind = watched->kind;
	call->tid = watched->tid;
	call->time = call->began = watched->time;
	call->ended = 0;
	call->slot = watched->slot;
	call->return_address = watched->return_address;
	call->result = watched->result;
	call->stored_at = watched->stored_at;
	call->stored = watched->stored;
	call->chosen = chosen_of(watched);
	call->tail_call = watched->tail_call;
	call->whole = false;
}

/* As many as there are; the others are nobody's. */
static void take_arguments(struct watched_call *call,
			   const struct agent_watched *watched)
{
	unsigned i;

	for (i = 0; i < AGENT_WATCHED_ARGUMENTS; i++)
		call->arguments[i] =
			i < watched->argument_count ? watched->arguments[i] : 0;
}

/* Whether it is that of the last call that was read, whose return it is. */
static bool ends_last(struct watched_reading *reading,
		      const struct agent_watched *watched,
		      const struct agent_point *point)
{
	const struct watched_end end = {
		.point = point,
		.tid = watched->tid,
		.time = watched->time,
		.slot = watched->slot,
		.return_address = watched->return_address,
		.result = watched->result,
	};

	return !reading->open.disabled &&
	       agent_wholes_end(reading->list, &reading->open, &end);
}

/* What is told with its entry, of which that was no part. */
static void keep_return(struct watched_reading *reading,
			const struct agent_watched *entry,
			struct agent_point *point)
{
	struct watched_list *list = reading->list;
	const struct watched_end end = {
		.point = point,
		.tid = entry->tid,
		.time = entry->ended,
		.slot = entry->slot,
		.return_address = entry->frames[0],
		.result = entry->result,
	};

	if (!reading->open.disabled &&
	    agent_wholes_end(list, &reading->open, &end))
		return;
	*agent_wholes_next(list) = (struct watched_call){
		.point = point,
		.kind = AGENT_WATCH_RETURN,
		.tid = end.tid,
		.time = end.time,
		.began = end.time,
		.slot = end.slot,
		.return_address = end.return_address,
		.result = end.result,
		.stack = STACK_NONE,
	};
	agent_wholes_add(list, &reading->open);
}

/* What it gives back was mostly acquired long ago, as others are soon over. */
static void expect_release(const struct agent_space *space,
			   const struct watched_call *call)
{
	const struct function *function = call->point->point->function;

	if (space->takes_wholes && function->entry_only)
		sinks_expect(space->space->prober->config.sinks, function,
			     space->pid, call->arguments);
}

/* Whether no call of the thread's is under way. */
static bool keep(void *context, const struct agent_watched *watched)
{
	struct watched_reading *reading = context;
	struct watched_list *list = reading->list;
	struct agent_space *space = list->space;
	const bool begins = watched->kind == AGENT_WATCH_ENTRY;
	/* Others may have the same, whatever becomes of this one. */
	const stack_id stack = begins && watched->frame_count ?
				       agent_entry_stack(space, watched) :
				       STACK_NONE;
	struct agent_point *point = agent_reading_point(&space->reading,
							watched->stub,
							watched->time);
	struct watched_call *call;

	if (!point || (begins && !watched->frame_count))
		return !reading->open.count;
	if (!begins && ends_last(reading, watched, point))
		return !reading->open.count;
	call = agent_wholes_next(list);
	call->point = point;
	fill_in(call, watched);
	call->stack = stack;
	if (begins) {
		call->return_address = watched->frames[0];
		call->result = 0;
		take_arguments(call, watched);
		expect_release(space, call);
	}
	if (!begins || !watched->has_ended ||
	    !agent_reading_point(&space->reading, watched->stub,
				 watched->ended))
		agent_wholes_add(list, &reading->open);
	else if (!agent_wholes_add_ended(list, &reading->open, watched->ended,
					 watched->result)) {
		agent_wholes_add(list, &reading->open);
		keep_return(reading, watched, point);
	}
	return !reading->open.count;
}

/* Of what is chosen in the process little is told, and more is asked. */
static bool takes_wholes(const struct agent_space *space)
{
	const struct prober_config *config = &space->space->prober->config;

	return !(space->engine->mode & (AGENT_SAMPLES | AGENT_STOPS)) &&
	       !config->scripts && sinks_take_wholes(config->sinks);
}

static void read_part(struct watched_list *list)
{
	struct agent_space *space = list->space;
	struct watched_reading reading = {
		.list = list,
		.open.disabled = !space->takes_wholes,
	};

	list->more = shared_read_watched(&space->agent.shared, list->block,
					 space->engine->reading, true, keep,
					 &reading);
}

static void read_next(struct watched_list *list, bool all)
{
	read_part(list);
	while (all && list->more) {
		/* Many full rings take longer than a gate waits for us. */
		agent_engine_live(list->space->engine);
		read_part(list);
	}
	agent_watch_order(list);
}

/* Returns how many of the list that were. */
static size_t tell_next(struct watched_telling *telling)
{
	const struct watched_list *list = telling->list;
	const struct watched_call *call = &list->calls[list->next];
	struct watched_call both;

	if (!call->whole && list->space->takes_wholes &&
	    agent_wholes_join(list, list->next, telling->until, &both)) {
		tell_call(telling, &both);
		return 2;
	}
	tell_call(telling, call);
	return 1;
}

static size_t tell_list(struct watched_telling *telling)
{
	struct watched_list *list = telling->list;
	const size_t before = list->next;

	while (list->next < list->count &&
	       list->calls[list->next].time <= telling->until)
		list->next += tell_next(telling);
	tell_run(telling);
	return list->next - before;
}

/* Who waits for room, and what was told since somebody was held for that. */
struct crowd {
	size_t held;
	size_t told;
};

/*
 * Looked at so often while it is told. One line of each thread's block is fetched for
 * that: of many threads more seldom.
 */
static size_t look_every(const struct agent_engine *engine)
{
	return engine->list_count < 8 ? AGENT_MANY_TOLD / 16 : AGENT_MANY_TOLD;
}

/*
 * Who is held has room for a while then. To go on only when all is told would make
 * some of a server's requests wait for that.
 */
static bool has_room_for(const struct crowd *crowd)
{
	return crowd->held && crowd->told >= crowd->held * AGENT_MANY_TOLD;
}

static size_t tell_all(struct agent_engine *engine, uint64_t until,
		       struct crowd *crowd, bool all)
{
	const size_t every = look_every(engine);
	struct watched_telling telling;
	size_t told = 0, looked = 0;
	uint64_t limit;

	telling.engine = engine;
	telling.task = NULL;
	telling.run.count = 0;
	while ((telling.list =
			agent_lists_earliest(engine, read_next, &limit)) &&
	       telling.list->calls[telling.list->next].time <= until) {
		telling.until = limit < until ? limit : until;
		told += tell_list(&telling);
		if (told - looked < every)
			continue;
		if (crowd->held)
			crowd->told += told - looked;
		looked = told;
		agent_engine_live(engine);
		crowd->held += agent_hold_waiting(engine);
		if (!all && has_room_for(crowd))
			break;
	}
	return told;
}

/*
 * What somebody does who is told of a call may ask for what is known by then:
 * that is being told.
 */
static size_t tell(struct agent_engine *engine, uint64_t until,
		   struct agent_all_of them, bool all)
{
	struct agent_space *space;
	struct crowd crowd = { 0 };
	size_t told;

	if (engine->telling || !(engine->mode & AGENT_WATCHES))
		return 0;
	engine->telling = true;
	for (space = engine->spaces; space; space = space->next) {
		space->takes_wholes = takes_wholes(space);
		space->may_lag =
			space->takes_wholes &&
			!sinks_need_times(space->space->prober->config.sinks);
	}
	crowd.held = agent_hold_crowd(engine);
	agent_lists_begin(engine, read_next);
	told = tell_all(engine,
			agent_lists_last(engine, read_next, them, until),
			&crowd, all);
	agent_lists_trim(engine, clock_now());
	engine->telling = false;
	return told;
}

size_t agent_watch_tell(struct agent_engine *engine, uint64_t until,
			struct agent_all_of them)
{
	return tell(engine, until, them, true);
}

size_t agent_watch_tell_some(struct agent_engine *engine, uint64_t until)
{
	return tell(engine, until, AGENT_ALL_OF_NOBODY, false);
}

void agent_watch_forget_outer(struct agent_engine *engine, pid_t tid)
{
	struct agent_space *space = engine->spaces;
	const struct regs *regs;
	struct task *task;

	if (!space || !(engine->mode & AGENT_WATCHES) ||
	    engine->mode & AGENT_SAMPLES)
		return;
	task = task_find(engine_space(space->space)->tracer, tid);
	if (!task || !task->tracee || !task->stopped)
		return;
	space = agent_find_space(engine, probe_space_of(task->tracee->space));
	regs = task_regs(task);
	if (space && regs && space->agent.shared.memory)
		shared_forget_outer(&space->agent.shared, regs->user.fs_base);
}

/* ---- learning ---- */

uint64_t agent_row_of(const struct unwind_rule *rule)
{
	const unsigned bits = (rule->outermost ? AGENT_RULE_OUTERMOST : 0) |
			      (rule->by_chain ? AGENT_RULE_BY_CHAIN : 0) |
			      (rule->may_switch ? AGENT_RULE_SWITCHES : 0) |
			      (rule->by_fp ? AGENT_RULE_BY_FP : 0) |
			      (rule->in_memory ? AGENT_RULE_IN_MEMORY : 0) |
			      (rule->fp_saved ? AGENT_RULE_FP_SAVED : 0) |
			      (rule->fp_unknown ? AGENT_RULE_FP_UNKNOWN : 0);

	return agent_rule(bits, rule->offset, rule->fp_offset);
}

/* What has become of a stack's rules. */
struct learned {
	unsigned added;
	bool all;      /* there was a place for each, … */
	bool is_ruled; /* … and there is one for each frame */
};

static void add_row(struct agent_space *space, taddr_t address,
		    struct learned *learned)
{
	struct unwinder *unwinder = space->space->prober->config.unwinder;
	struct shared *shared = &space->agent.shared;
	struct unwind_rule rule;

	if (shared_has_row(shared, address))
		return;
	/* It ends a walk; by its frame pointer it would lead into the hook's frame. */
	if (agent_has_code(&space->agent, address)) {
		learned->is_ruled = false;
		return;
	}
	if (!unwind_rule(unwinder, space->space->space, address, &rule))
		learned->is_ruled = false;
	else if (!shared_add_row(shared, address, agent_row_of(&rule)))
		learned->all = false;
	else if (++learned->added && !rule.by_chain)
		agent_tables_missed(space, address);
}

static struct learned add_rows(struct agent_space *space)
{
	struct learned learned = { .all = true, .is_ruled = true };
	const taddr_t *addresses;
	unsigned i, count = unwind_last(space->space->prober->config.unwinder,
					&addresses);

	for (i = 0; i < count; i++)
		add_row(space, addresses[i], &learned);
	return learned;
}

/* A program that needs more of them than there is room for keeps the first. */
#define ROWS_WAIT_MOST (64 * NS_PER_SECOND)

/* How long rows are kept that were cleared so long ago and leave no room again. */
static uint64_t rows_wait(uint64_t wait, uint64_t since)
{
	if (!wait || since > 2 * wait)
		return NS_PER_SECOND;
	return wait < ROWS_WAIT_MOST ? 2 * wait : wait;
}

/*
 * The stack that was taken of the call is walked over in the process now. Code that
 * is made at run time leaves rows behind that nobody needs: those in use are soon
 * there again, but each costs a stop. Returns whether that is new.
 */
static bool learn_rows(struct agent_space *space)
{
	const uint64_t now = clock_now(), since = now - space->rows_cleared;
	struct learned learned = add_rows(space);

	if (!learned.all && since >= space->rows_wait) {
		space->rows_wait = rows_wait(space->rows_wait, since);
		space->rows_cleared = now;
		shared_clear_rows(&space->agent.shared);
		learned = add_rows(space);
	}
	return learned.added && learned.all && learned.is_ruled;
}

/*
 * The kernel's [stack] is there for as long as the program. Of other stacks we
 * know that one is the thread's own when the thread's data lie above it, in
 * the same mapping (glibc's, musl's): as far as these it can't go while the
 * thread runs on it. A coroutine's may end anywhere.
 */
static struct shared_stack stack_around(const struct task *task, taddr_t sp)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	const taddr_t thread = task->regs.user.fs_base & -sizeof(taddr_t);

	if (!procfs_find_mapping(task->tid, sp, mapping))
		return (struct shared_stack){ 0 };
	if (!strcmp(mapping->path, "[stack]"))
		return (struct shared_stack){ mapping->start, mapping->end };
	if (sp < thread && thread < mapping->end)
		return (struct shared_stack){ mapping->start, thread };
	return (struct shared_stack){ 0 };
}

/* Room that the agent leaves for itself; [stack] grows. */
#define STACK_SPARE 16384

/* To look at all mappings takes a while: done for the 1st, 2nd, 4th hit … */
static void learn_stack(struct agent_space *space, const struct task *task)
{
	const taddr_t sp = task->regs.user.rsp;
	const taddr_t pointer = task->regs.user.fs_base;
	struct shared *shared = &space->agent.shared;
	struct shared_stack stack;

	if (!shared_find_stack(shared, pointer, task->tid, &stack) ||
	    (sp < stack.high && sp >= stack.low + STACK_SPARE))
		return;
	space->strays++;
	if (stack.high && space->strays & (space->strays - 1))
		return;
	stack = stack_around(task, sp);
	if (stack.high)
		shared_set_stack(shared, pointer, task->tid, &stack);
}

static bool may_hold_stacks(const struct procfs_mapping *mapping)
{
	return mapping->readable && mapping->writable && !mapping->shared;
}

/* All around it that is mapped: the kernel may have that in pieces. */
static struct shared_stack memory_around(pid_t pid, taddr_t address)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	struct shared_stack found = { 0 };
	FILE *maps = procfs_maps_open(pid);

	while (maps && procfs_maps_next(maps, mapping)) {
		if (!may_hold_stacks(mapping))
			continue;
		if (mapping->start != found.high) {
			if (found.high > address)
				break;
			found.low = mapping->start;
		}
		found.high = mapping->end;
	}
	if (maps)
		fclose(maps);
	return found.low <= address && address < found.high ?
		       found :
		       (struct shared_stack){ 0 };
}

/*
 * There is one range. It may grow as often as it likes; but where there are two in
 * turns, each would be looked for at each call: so that is done as for strays.
 */
static void learn_other_range(struct agent_space *space, taddr_t address)
{
	struct shared *shared = &space->agent.shared;
	struct shared_stack stacks;

	if (!address || shared_is_on_other(shared, address))
		return;
	space->others_missed++;
	if (space->others_missed & (space->others_missed - 1))
		return;
	stacks = memory_around(space->pid, address);
	if (!stacks.high)
		return;
	if (stacks.low <= shared->memory->other_low &&
	    stacks.high >= shared->memory->other_high)
		space->others_missed = 0;
	shared_set_other(shared, &stacks);
}

/* Goroutines' stacks, on which the walk has gone on, and what is known of them. */
static void learn_other_stacks(struct agent_space *space)
{
	const struct unwinder *unwinder = space->space->prober->config.unwinder;

	if (!space->space->is_go)
		return;
	learn_other_range(space, unwind_last_switch(unwinder));
	learn_other_range(space, unwind_last_goroutine(unwinder));
}

/* Whether all that was missing is known now. */
static bool learn(struct agent_space *space, const struct task *task)
{
	const bool new = learn_rows(space);

	learn_stack(space, task);
	learn_other_stacks(space);
	return new;
}

static void look(struct agent_space *space, const struct moment *moment)
{
	unwind_look(space->space->prober->config.unwinder, moment->space->space,
		    moment->memory, moment->tid, moment->regs,
		    space->engine->depth + 1);
}

void agent_watch_reached(struct agent_point *own, struct task *task,
			 const struct moment *moment)
{
	struct unwinder *unwinder = moment->space->prober->config.unwinder;
	struct agent_space *space = own->space;
	const taddr_t *addresses;

	unwind_last_forget(unwinder);
	own->point->ops->reached(own->point, moment);
	if (own->stub < 0 || space->agent.state != AGENT_INSIDE)
		return;
	/* Within a call that stands for it nobody has asked for its stack. */
	if (!unwind_last(unwinder, &addresses) &&
	    !agent_passes_over(space, moment))
		look(space, moment);
	(void)learn(space, task);
}

/*
 * The stub leaves its own address in that register, which is nobody's at a function's
 * entry.
 */
static bool comes_from_hook(const struct agent_point *own,
			    const struct task *task)
{
	return own->stub >= 0 && own->space->agent.state == AGENT_INSIDE &&
	       task->regs.user.r11 ==
		       agent_hook_of(&own->space->agent, (unsigned)own->stub);
}

bool agent_watch_sends_back(struct agent_point *own, struct task *task,
			    const struct moment *moment)
{
	struct agent_space *space = own->space;
	const unsigned mode = space->engine->mode;

	if (!(mode & AGENT_WATCHES) || mode & (AGENT_SAMPLES | AGENT_STOPS) ||
	    !comes_from_hook(own, task) || agent_passes_over(space, moment))
		return false;
	unwind_last_forget(moment->space->prober->config.unwinder);
	look(space, moment);
	if (!learn(space, task))
		return false;
	agent_send_to(task, agent_hook_of(&space->agent, (unsigned)own->stub));
	return true;
}

void agent_watch_forget_rows(struct agent_space *space)
{
	if (space->engine->mode & AGENT_WITH_ROWS && space->agent.shared.memory)
		shared_clear_rows(&space->agent.shared);
}
