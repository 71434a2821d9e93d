/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"

/* From records to events, and from counters to counts. */

#define XMM_SIZE 16

/* What a record hasn't captured can't be read later: it would be another. */
static size_t read_captured(struct memory *memory, taddr_t address, void *ret,
			    size_t size)
{
	const struct captured *captured = (struct captured *)memory;

	return record_memory(captured->record, address, ret, size);
}

static const struct memory_ops captured_ops = { .read = read_captured };

struct captured agent_captured(const struct agent_record *record)
{
	return (struct captured){ { &captured_ops }, record };
}

void agent_record_regs(const struct agent_point *point,
		       const struct agent_record *record, struct regs *ret)
{
	ret->user.rip = point->point->address;
	ret->user.rsp = record->slot;
	ret->user.rdi = record->arguments[0];
	ret->user.rsi = record->arguments[1];
	ret->user.rdx = record->arguments[2];
	ret->user.rcx = record->arguments[3];
	ret->user.r8 = record->arguments[4];
	ret->user.r9 = record->arguments[5];
}

static const struct fp_regs *fp_of(const uint64_t *floats, unsigned count,
				   struct fp_regs *space)
{
	unsigned i;

	if (!count)
		return NULL;
	memset(space, 0, sizeof(*space));
	for (i = 0; i < count; i++)
		memcpy((uint8_t *)space->user.xmm_space + XMM_SIZE * i,
		       &floats[i], sizeof(floats[i]));
	return space;
}

const struct fp_regs *agent_record_fp(const struct agent_record *record,
				      struct fp_regs *space)
{
	return fp_of(record->floats, record->float_count, space);
}

const struct fp_regs *agent_record_fp_result(const struct agent_record *record,
					     struct fp_regs *space)
{
	return fp_of(&record->result, record->is_float, space);
}

static void keep_pieces(struct recorded *one, const uint64_t *pieces)
{
	const size_t size = one->record.piece_words * sizeof(*pieces);
	uint64_t *to = one->few;

	if (one->record.piece_words > RECORDED_FEW)
		to = one->record.pieces = xmalloc(size);
	if (size)
		memcpy(to, pieces, size);
}

/* It stays where it is from now on. */
static void find_pieces(struct recorded *one)
{
	if (one->record.piece_words <= RECORDED_FEW)
		one->record.pieces = one->few;
}

struct recorded *agent_record_add(struct agent_space *space,
				  struct agent_point *point,
				  enum recorded_kind kind, pid_t tid,
				  unsigned block, uint64_t due)
{
	struct agent_engine *engine = space->engine;
	struct recorded *one;

	if (engine->recorded_count == engine->recorded_room)
		engine->recorded = xgrow(engine->recorded,
					 engine->recorded_count,
					 &engine->recorded_room,
					 sizeof(*engine->recorded));
	engine->report.calls += kind != RECORDED_RETURN;
	one = &engine->recorded[engine->recorded_count++];
	one->point = point;
	one->kind = kind;
	one->tail_call = one->live = false;
	one->block = block;
	one->due = due;
	if (due > space->nests[block].latest)
		space->nests[block].latest = due;
	one->tid = tid ? tid : space->pid;
	one->order = engine->recorded_ever++;
	return one;
}

/* A call, or one of its ends. */
static void keep_part(struct agent_point *point,
		      const struct agent_record *record,
		      enum recorded_kind kind, stack_id stack, bool waits)
{
	struct recorded *one = agent_record_add(point->space, point, kind,
						record->tid, record->block,
						record->ended);

	one->stack = stack;
	one->record = *record;
	if (kind == RECORDED_RETURN)
		one->record.began = record->ended;
	else if (kind == RECORDED_ENTRY)
		one->record.ended = one->due = record->began;
	one->record.pieces = NULL;
	keep_pieces(one, record->pieces);
	if (waits)
		agent_nest_hold(point->space, one);
}

/*
 * A call that is told of may be over, with its record on the way, when a handler
 * interrupts the hook: for the program it hasn't returned before that does.
 */
static struct agent_record last_return(const struct agent_nest *nest,
				       const struct agent_record *record)
{
	struct agent_record ret = *record;

	if (ret.ended < nest->latest)
		ret.ended = nest->latest;
	return ret;
}

static void keep_call(struct agent_point *point,
		      const struct agent_record *record)
{
	struct agent_space *space = point->space;
	struct agent_nest *nest = &space->nests[record->block];
	enum recorded_kind kind = RECORDED_CALL;
	struct agent_record late;
	stack_id stack;
	bool told;

	stack = agent_entry_take(space, record, &told);
	nest->last = record->began;
	if (told) {
		late = last_return(nest, record);
		record = &late;
		kind = RECORDED_RETURN;
	} else if (agent_nest_has_ends(space, record)) {
		keep_part(point, record, RECORDED_ENTRY, stack, record->inner);
		kind = RECORDED_RETURN;
	}
	keep_part(point, record, kind, stack, record->inner && !told);
}

static void keep(void *context, const struct agent_record *record)
{
	const struct agent_reading *reading = context;
	struct agent_point *point =
		agent_reading_point(reading, record->stub, record->ended);

	if (point && record->ended < record->began)
		point = NULL;
	if (point && agent_tells_ends(point))
		keep_part(point, record, RECORDED_RETURN, STACK_NONE,
			  record->inner);
	else if (point)
		keep_call(point, record);
	if (!record->inner)
		agent_nest_release(reading->space, record->block,
				   record->ended);
}

static void keep_entry(struct agent_point *point,
		       const struct agent_watched *entry)
{
	struct agent_engine *engine = point->space->engine;
	struct recorded *one;

	if (!entry->frame_count)
		return;
	one = agent_record_add(point->space, point, RECORDED_ENTRY, entry->tid,
			       entry->block, entry->time);
	one->tail_call = entry->tail_call;
	one->stack = engine->mode & AGENT_STACKS ?
			     agent_entry_stack(point->space, entry) :
			     STACK_NONE;
	one->record = (struct agent_record){
		.began = entry->time,
		.ended = entry->time,
		.return_address = entry->frames[0],
		.slot = entry->slot,
		.argument_count = entry->argument_count,
		.float_count = entry->float_count,
		.piece_words = entry->piece_words,
	};
	keep_pieces(one, entry->pieces);
	memcpy(one->record.arguments, entry->arguments,
	       entry->argument_count * sizeof(*entry->arguments));
	memcpy(one->record.floats, entry->floats,
	       entry->float_count * sizeof(*entry->floats));
	if (entry->inner)
		agent_nest_hold(point->space, one);
	else
		agent_nest_release(point->space, entry->block, entry->time);
}

static void enter(void *context, const struct agent_watched *entry)
{
	const struct agent_reading *reading = context;
	struct agent_space *space = reading->space;
	struct agent_point *point =
		agent_reading_point(reading, entry->stub, entry->time);

	if (point && agent_tells_ends(point))
		keep_entry(point, entry);
	else if (space->engine->mode & AGENT_STACKS)
		agent_entry_keep(space, entry);
}

static void free_pieces(const struct recorded *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (list[i].record.piece_words > RECORDED_FEW)
			free(list[i].record.pieces);
}

void agent_records_forget(struct agent_engine *engine)
{
	free_pieces(engine->recorded, engine->recorded_count);
	free(engine->recorded);
	engine->recorded = NULL;
	engine->recorded_count = engine->recorded_room = 0;
	agent_records_order_fini(&engine->order);
}

static void read_space(struct agent_space *space)
{
	struct agent_reading reading;

	if (!agent_reading_begin(space, &reading))
		return;
	shared_read(&space->agent.shared, clock_now(), keep, enter, &reading);
}

/* ---- telling ---- */

/*
 * A call while it is told of: from its begin to its end. What isn't known of any call
 * is 0, and stays so from one to the next.
 */
struct telling {
	const struct recorded *one;
	struct captured captured;
	struct regs regs;
	struct fp_regs entry_fp, result_fp;
	struct call call;
};

static void begin(struct telling *telling, unsigned depth)
{
	const struct recorded *one = telling->one;
	const struct agent_space *space = one->point->space;
	const struct agent_engine *engine = space->engine;
	const struct agent_record *record = &one->record;
	struct prober *prober = space->space->prober;
	const struct function *function = one->point->point->function;
	struct call *call = &telling->call;

	telling->captured = agent_captured(record);
	call->function = function;
	call->id = ++prober->last_call_id;
	call->pid = space->pid;
	call->tid = one->tid;
	call->depth = depth;
	call->arch = &arch_x86_64;
	call->memory = &telling->captured.memory;
	call->return_address = record->return_address;
	agent_record_regs(one->point, record, &call->entry);
	call->entry_fp = agent_record_fp(record, &telling->entry_fp);
	call->stack = one->stack;
	call->time = ticks_to_ns(&engine->ticks, record->began);
	function_called(prober, function);
	prober->counts.calls++;
}

static void tell_begin(struct telling *telling, unsigned depth)
{
	const struct recorded *one = telling->one;
	struct event event;

	begin(telling, depth);
	event = (struct event){
		.kind = EVENT_CALL,
		.pid = telling->call.pid,
		.tid = one->tid,
		.time = telling->call.time,
		.call = &telling->call,
	};
	prober_tell(one->point->space->space->prober, &event);
}

static void judge(const struct telling *telling, struct event *event)
{
	const struct call *call = &telling->call;
	const struct prototype *prototype = call->function->prototype;
	struct call_values values = {
		.arch = call->arch,
		.entry_regs = &call->entry,
		.result_regs = event->regs,
		.memory = call->memory,
	};

	if (!prototype || !prototype_has_failed(prototype, &values))
		return;
	event->failed = true;
	values.error = telling->one->record.error;
	event->error = prototype_error(prototype, &values);
}

static void tell_end(struct telling *telling)
{
	const struct recorded *one = telling->one;
	const struct agent_space *space = one->point->space;
	struct event event = {
		.kind = EVENT_RETURN,
		.pid = telling->call.pid,
		.tid = one->tid,
		.time = ticks_to_ns(&space->engine->ticks, one->record.ended),
		.call = &telling->call,
		.regs = &telling->regs,
		.fp = agent_record_fp_result(&one->record, &telling->result_fp),
		.end = CALL_RETURNED,
	};

	agent_record_regs(one->point, &one->record, &telling->regs);
	telling->regs.user.rax = one->record.result;
	telling->regs.user.rip = one->record.return_address;
	telling->regs.user.rsp += sizeof(uint64_t);
	judge(telling, &event);
	prober_tell(space->space->prober, &event);
}

/*
 * Calls that have begun, but whose end isn't told yet: as many as run at once.
 * Behind those stand others of no use now, to be used again.
 */
struct running {
	struct telling **list;
	size_t count, made, room;
};

static struct telling *add(struct running *running, const struct recorded *one)
{
	struct telling *telling;

	if (running->count == running->made) {
		running->list = xgrow(running->list, running->made,
				      &running->room, sizeof(*running->list));
		running->list[running->made++] = xcalloc(1, sizeof(*telling));
	}
	telling = running->list[running->count++];
	telling->one = one;
	return telling;
}

static void take_out(struct running *running, size_t i)
{
	struct telling *out = running->list[i];

	running->list[i] = running->list[--running->count];
	running->list[running->count] = out;
}

static uint64_t end_of(const struct running *running, size_t i)
{
	return running->list[i]->one->record.ended;
}

/* The ends of all that ended by then, in that order. */
static void tell_ends(struct running *running, uint64_t until)
{
	while (running->count) {
		size_t first = 0, i;

		for (i = 1; i < running->count; i++)
			if (end_of(running, i) < end_of(running, first))
				first = i;
		if (end_of(running, first) > until)
			return;
		tell_end(running->list[first]);
		take_out(running, first);
	}
}

/* Those that others tell of count as well. */
static unsigned depth_of(const struct running *running, struct task *task,
			 pid_t tid)
{
	unsigned depth = task ? task_calls_of(task)->stack.depth : 0;
	size_t i;

	for (i = 0; i < running->count; i++)
		depth += running->list[i]->one->tid == tid;
	return depth;
}

static void tell_one(struct agent_engine *engine, struct running *running,
		     const struct recorded *one, struct task *task)
{
	unsigned depth;

	if (one->kind != RECORDED_CALL) {
		agent_end_tell(engine, one, task);
		return;
	}
	depth = depth_of(running, task, one->tid);
	tell_begin(add(running, one), depth);
}

/* Mostly the one of the call before. NULL: nobody knows it any more, or not yet. */
static struct task *task_of(const struct recorded *one, struct task *former)
{
	const struct probe_space *space = one->point->space->space;
	struct task *task = former && former->tid == one->tid ?
				    former :
				    task_find(space->space->tracer, one->tid);

	return task && task->tracee &&
			       probe_space_of(task->tracee->space) == space ?
		       task :
		       NULL;
}

/* Sorted by their begins. */
static void tell_all(struct agent_engine *engine, struct recorded **list,
		     size_t count)
{
	struct running running = { 0 };
	struct task *task = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (i % AGENT_MANY_TOLD == AGENT_MANY_TOLD - 1)
			agent_engine_live(engine);
		task = task_of(list[i], task);
		find_pieces(list[i]);
		tell_ends(&running, list[i]->record.began);
		tell_one(engine, &running, list[i], task);
	}
	tell_ends(&running, UINT64_MAX);
	while (running.made)
		free(running.list[--running.made]);
	free(running.list);
}

/* What ended later stays, in the order in which it was read. */
static void forget_told(struct agent_engine *engine, uint64_t until)
{
	struct recorded *list = engine->recorded;
	uint64_t first = UINT64_MAX;
	size_t i, kept = 0;

	for (i = 0; i < engine->recorded_count; i++) {
		if (list[i].due <= until) {
			free_pieces(&list[i], 1);
			continue;
		}
		if (list[i].due < first)
			first = list[i].due;
		if (i != kept++)
			list[kept - 1] = list[i];
	}
	engine->recorded_count = kept;
	engine->records_first = first;
}

/* The time, or later: until they had done all that there is of them. */
static uint64_t last_of(struct agent_engine *engine, struct agent_all_of them,
			uint64_t until)
{
	size_t i;

	for (i = 0; i < engine->recorded_count; i++) {
		struct recorded *one = &engine->recorded[i];

		if (!agent_is_of(them, one->tid, one->point))
			continue;
		agent_nest_let_go(one);
		if (one->due > until)
			until = one->due;
	}
	return until;
}

/*
 * Rings may be full again whenever a batch has been told. So the stops of threads
 * that stood before it was read, which wait for it, too, aren't told a batch each.
 */
bool agent_records_are_read(const struct agent_engine *engine, uint64_t time)
{
	return engine->mode & AGENT_RECORDS && time &&
	       time <= engine->records_read;
}

size_t agent_records_tell_read(struct agent_engine *engine, uint64_t until,
			       struct agent_all_of them)
{
	struct recorded **list;
	size_t count;

	if (engine->telling)
		return 0;
	if (them.tid)
		agent_nests_of_thread(engine, them.tid, until);
	until = last_of(engine, them, until);
	if (until < engine->records_first)
		return 0;
	engine->telling = true;
	list = agent_records_order(&engine->order, engine->recorded,
				   engine->recorded_count, until, &count);
	tell_all(engine, list, count);
	if (count || !engine->records_first)
		forget_told(engine, until);
	engine->telling = false;
	return count;
}

size_t agent_records_tell(struct agent_engine *engine, uint64_t until,
			  struct agent_all_of them)
{
	struct agent_space *space;

	if (engine->telling || !(engine->mode & AGENT_RECORDS))
		return 0;
	engine->telling = true;
	engine->records_read = clock_now();
	for (space = engine->spaces; space; space = space->next)
		read_space(space);
	engine->records_first = 0;
	engine->telling = false;
	agent_nests_look(engine, engine->records_read);
	return agent_records_tell_read(engine, until, them);
}

/*
 * What was read beyond that stays for the next part: of threads' calls none comes
 * before others that were over by then.
 */
static bool read_parts(struct agent_engine *engine, uint64_t now, uint64_t told,
		       uint64_t *until_ret)
{
	struct agent_reading reading;
	struct agent_space *space;
	bool more = false;

	engine->telling = true;
	for (space = engine->spaces; space; space = space->next)
		if (agent_reading_begin(space, &reading))
			more |= shared_read_part(&space->agent.shared, now,
						 told, keep, enter, &reading,
						 until_ret);
	engine->records_first = 0;
	engine->telling = false;
	return more;
}

/* As many at once as stay in the processor's caches until they are told. */
size_t agent_records_tell_now(struct agent_engine *engine)
{
	const uint64_t now = clock_now();
	uint64_t all, until = 0;
	struct agent_space *space;
	size_t count = 0;
	bool more = true;

	if (engine->telling || !(engine->mode & AGENT_RECORDS))
		return 0;
	for (space = engine->spaces; space; space = space->next)
		if (space->agent.shared.memory)
			shared_begin_reading(&space->agent.shared);
	all = ticks_now();
	while (more) {
		const uint64_t told = until;

		until = all;
		more = read_parts(engine, now, told, &until);
		if (!more) {
			engine->records_read = now;
			agent_nests_look(engine, now);
		}
		count += agent_records_tell_read(engine, until,
						 AGENT_ALL_OF_NOBODY);
		agent_engine_live(engine);
	}
	return count;
}

/* ---- counting ---- */

static uint64_t longest_of(unsigned octave, unsigned part)
{
	if (!octave)
		return part;
	return ((uint64_t)(AGENT_PARTS + part + 1) << (octave - 1)) - 1;
}

static size_t list_durations(const struct agent_point *point,
			     struct call_duration *ret)
{
	const struct agent_space *space = point->space;
	uint64_t counts[AGENT_OCTAVES][AGENT_PARTS];
	unsigned octave, part;
	size_t count = 0;

	shared_histogram(&space->agent.shared, (unsigned)point->stub, counts);
	for (octave = 0; octave < AGENT_OCTAVES; octave++)
		for (part = 0; part < AGENT_PARTS; part++)
			if (counts[octave][part])
				ret[count++] = (struct call_duration){
					ticks_length(&space->engine->ticks,
						     longest_of(octave, part)),
					counts[octave][part],
				};
	return count;
}

/* Each call has a look at the clock in its time, and what goes on beside that. */
static void time_counted(const struct agent_engine *engine,
			 const struct agent_counter *now,
			 struct call_count *count)
{
	const struct ticks *ticks = &engine->ticks;
	const uint64_t looks = now->calls * engine->look;
	const uint64_t rest = now->ticks > looks ? now->ticks - looks : 0;

	count->ns = ticks_length(ticks, rest);
	count->blur_ns = ticks_length(ticks, looks * 2 / 3);
	count->longest = ticks_length(ticks, now->longest);
}

static void tell_count(const struct agent_point *point,
		       const struct agent_counter *now)
{
	const struct agent_space *space = point->space;
	struct call_duration *durations CLEANUP(xfree_cleanup) = NULL;
	struct call_count count = {
		.function = point->point->function,
		.pid = space->pid,
		.calls = now->calls,
	};

	if (point->tallied) {
		count.untimed = true;
	} else {
		count.failed = now->failed;
		time_counted(space->engine, now, &count);
	}
	if (space->engine->mode & AGENT_DURATIONS && !point->tallied) {
		durations = xcalloc(AGENT_OCTAVES * AGENT_PARTS,
				    sizeof(*durations));
		count.durations = durations;
		count.duration_count = list_durations(point, durations);
	}
	function_called(space->space->prober, count.function);
	prober_count(space->space->prober, &count);
}

void agent_count_tell(struct agent_point *point)
{
	const struct agent_space *space = point->space;
	struct agent_counter now;

	if (point->stub < 0 || point->told || !space->agent.shared.memory ||
	    !(space->engine->mode & AGENT_COUNTS))
		return;
	point->told = true;
	shared_counter(&space->agent.shared, (unsigned)point->stub, &now);
	agent_count_running(point, ticks_now(), &now);
	space->engine->report.calls += now.calls;
	if (now.calls)
		tell_count(point, &now);
}
