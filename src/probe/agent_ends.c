/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "probe/agent_private.h"

/*
 * In a log calls whose return address is replaced are told of when they begin and
 * when they return, as by traps: they may last for hours, other calls are made
 * within them, and what leaves them otherwise is known to who pairs them.
 */

/* All that is known of the memory of then. */
struct end_memory {
	struct memory memory;
	struct captured captured;
};

static size_t read_end(struct memory *memory, taddr_t address, void *ret,
		       size_t size)
{
	struct end_memory *own = (struct end_memory *)memory;
	const struct agent_record *record = own->captured.record;
	const uint64_t word = record->return_address;

	if (address != record->slot)
		return memory_read_some(&own->captured.memory, address, ret,
					size);
	if (size > sizeof(word))
		size = sizeof(word);
	memcpy(ret, &word, size);
	return size;
}

static const struct memory_ops end_memory_ops = { .read = read_end };

static struct regs regs_of(const struct recorded *one)
{
	struct regs regs = { 0 };

	agent_record_regs(one->point, &one->record, &regs);
	if (one->kind != RECORDED_RETURN)
		return regs;
	regs.user.rip = one->record.return_address;
	regs.user.rsp += sizeof(uint64_t);
	regs.user.rax = one->record.result;
	return regs;
}

static void tell(const struct recorded *one, const struct moment *moment)
{
	struct point *point = one->point->point;

	if (one->kind == RECORDED_RETURN) {
		(void)pairing_return(moment, one->record.return_address);
		return;
	}
	if (!one->tail_call)
		pairing_forget_frame(moment);
	point->ops->reached(point, moment);
}

static const struct fp_regs *fp_of(const struct recorded *one,
				   struct fp_regs *space)
{
	return one->kind == RECORDED_RETURN ?
		       agent_record_fp_result(&one->record, space) :
		       agent_record_fp(&one->record, space);
}

/*
 * Each stop of the task has what came before it told first: so what is told now came
 * after those that are over, and before the one that it may stand in.
 */
static struct stop_sums stops_by_then(const struct task *task)
{
	return task->stopped ? task->stops_before : task->stops;
}

void agent_end_tell(struct agent_engine *engine, const struct recorded *one,
		    struct task *task)
{
	const struct regs regs = regs_of(one);
	struct fp_regs fp;
	struct end_memory memory = { { &end_memory_ops },
				     agent_captured(&one->record) };
	struct moment moment = {
		.space = one->point->space->space,
		.tid = one->tid,
		.arch = &arch_x86_64,
		.regs = &regs,
		.fp = fp_of(one, &fp),
		.memory = one->live ? &engine_space(one->point->space->space)
					       ->memory.memory :
				      &memory.memory,
		.past = true,
		.alone = true,
		.error = one->record.error,
		.time = ticks_to_ns(&engine->ticks, one->record.ended),
		.engine = &engine->engine,
		.ops = &agent_past_ops,
		.callers = &one->stack,
	};

	if (!task) {
		engine->report.lost++;
		return;
	}
	moment.pid = task->tracee->pid;
	moment.calls = task_calls_of(task);
	moment.muted = task->tracee->muted;
	moment.stops = stops_by_then(task);
	moment.price = &task->tracee->space->tracer->price.now;
	tell(one, &moment);
}

void agent_ends_go_by_traps(struct agent_space *space, pid_t tid, taddr_t sp)
{
	struct agent_engine *engine = space->engine;

	if (!(engine->mode & AGENT_RECORDS))
		return;
	if (!tid)
		(void)agent_records_tell(engine, ticks_now(),
					 AGENT_ALL_OF_NOBODY);
	pairing_watch_otherwise(space->space, &engine->watch, tid, sp,
				sp + AGENT_NEAR);
}
