/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/planner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "heap/live.h"

#define OPS_MAX UINT32_MAX

struct planned_thread {
	pid_t tid;
	uint32_t number;
	struct replay_op *ops;
	size_t count, room;
	uint64_t first, last; /* their places among all */
	UT_hash_handle hh;
};

/* Alignments aren't recorded: what all blocks of a site have is one. */
struct planned_site {
	struct {
		const struct family_function *function;
		uint64_t stack;
	} key;
	uint32_t number;
	uint64_t bits; /* of all its addresses */
	UT_hash_handle hh;
};

struct planned_block {
	uint64_t size;
	uint32_t thread;
};

struct planned_process {
	const struct watched *process;
	struct plan_counts counts;
	uint64_t ops;                /* in all threads */
	uint64_t now, began, latest; /* calls' entries */
	struct planned_thread *by_tid;
	struct planned_thread **threads;
	size_t thread_count, thread_room;
	struct planned_site *by_key;
	struct planned_site **sites;
	size_t site_count, site_room;
	struct planned_block *blocks; /* by number, less 1 */
	size_t block_count, block_room;
	struct live live; /* .site: the number */
	uint64_t live_size;
	bool full;
	struct planned_process *next;
};

struct planner {
	struct act_observer observer;
	struct planned_process *processes;
};

/* ---- who and where ---- */

static struct planned_thread *add_thread(struct planned_process *own, pid_t tid)
{
	struct planned_thread *thread = xcalloc(1, sizeof(*thread));

	thread->tid = tid;
	thread->number = own->thread_count;
	thread->first = own->ops;
	thread->last = own->ops + 1; /* its start is one, too */
	own->threads = xgrow(own->threads, own->thread_count, &own->thread_room,
			     sizeof(*own->threads));
	own->threads[own->thread_count++] = thread;
	HASH_ADD_INT(own->by_tid, tid, thread);
	return thread;
}

static struct planned_process *process_of(struct planner *planner,
					  const struct watched *process)
{
	struct planned_process *own = planner->processes;

	while (own && own->process != process)
		own = own->next;
	if (own)
		return own;
	own = xcalloc(1, sizeof(*own));
	own->process = process;
	own->counts.pid = process->pid;
	own->began = UINT64_MAX;
	add_thread(own, process->pid);
	own->next = planner->processes;
	planner->processes = own;
	return own;
}

static struct replay_op *add_op(struct planned_process *own,
				struct planned_thread *thread,
				const struct replay_op *op)
{
	thread->ops = xgrow(thread->ops, thread->count, &thread->room,
			    sizeof(*thread->ops));
	thread->ops[thread->count] = *op;
	thread->ops[thread->count].when = own->now;
	thread->last = ++own->ops;
	if (own->ops >= OPS_MAX)
		own->full = true;
	return &thread->ops[thread->count++];
}

static struct planned_thread *thread_of(struct planned_process *own, pid_t tid)
{
	struct planned_thread *thread;

	HASH_FIND_INT(own->by_tid, &tid, thread);
	if (thread)
		return thread;
	thread = add_thread(own, tid);
	add_op(own, own->threads[0],
	       &(struct replay_op){ .kind = REPLAY_START,
				    .block = thread->number });
	return thread;
}

static uint32_t site_of(struct planned_process *own, const struct heap_act *act)
{
	struct planned_site *site, wanted;

	memset(&wanted.key, 0, sizeof(wanted.key));
	wanted.key.function = act->function;
	wanted.key.stack = act->stack;
	HASH_FIND(hh, own->by_key, &wanted.key, sizeof(wanted.key), site);
	if (!site) {
		site = xcalloc(1, sizeof(*site));
		site->key = wanted.key;
		site->number = own->site_count;
		own->sites = xgrow(own->sites, own->site_count, &own->site_room,
				   sizeof(*own->sites));
		own->sites[own->site_count++] = site;
		HASH_ADD(hh, own->by_key, key, sizeof(site->key), site);
	}
	site->bits |= act->handle;
	return site->number;
}

/* ---- blocks ---- */

static void hold(struct planned_process *own, uint64_t handle, uint32_t block)
{
	const uint64_t size = own->blocks[block - 1].size;

	live_add(&own->live,
		 &(struct live_block){ .handle = handle, .site = block });
	own->live_size += size;
	if (own->live_size > own->counts.peak)
		own->counts.peak = own->live_size;
}

/* 0: none that is known. */
static uint32_t let_go(struct planned_process *own, uint64_t handle)
{
	struct live_block block;

	if (!live_remove(&own->live, handle, &block))
		return 0;
	own->live_size -= own->blocks[block.site - 1].size;
	return block.site;
}

static uint32_t new_block(struct planned_process *own, uint64_t size,
			  uint32_t thread)
{
	own->blocks = xgrow(own->blocks, own->block_count, &own->block_room,
			    sizeof(*own->blocks));
	own->blocks[own->block_count] = (struct planned_block){ size, thread };
	return ++own->block_count;
}

static bool is_anothers(const struct planned_process *own, uint32_t block,
			const struct planned_thread *thread)
{
	return own->blocks[block - 1].thread != thread->number;
}

/* An address can't come again before it was given back. */
static void add_unseen(struct planned_process *own,
		       struct planned_thread *thread, uint64_t handle)
{
	uint32_t block = let_go(own, handle);

	if (!block)
		return;
	own->counts.unseen++;
	add_op(own, thread,
	       &(struct replay_op){ .kind = REPLAY_FREE,
				    .block = block,
				    .waits = is_anothers(own, block, thread) });
}

/* ---- acts ---- */

static enum replay_kind kind_of(const struct heap_act *act)
{
	const char *name = act->function->name;

	if (act->function->act == FAMILY_RESIZE)
		return REPLAY_REALLOC;
	if (act->function->act == FAMILY_RELEASE)
		return REPLAY_FREE;
	if (strstr(name, "align") || strstr(name, "valloc"))
		return REPLAY_ALIGNED;
	return strstr(name, "calloc") || strstr(name, "zalloc") ?
		       REPLAY_CALLOC :
		       REPLAY_MALLOC;
}

static bool is_wanted(const struct planned_process *own,
		      const struct heap_act *act)
{
	return !own->full && !strcmp(act->function->family->name, "malloc") &&
	       act->function->act <= FAMILY_RESIZE;
}

static void set_time(struct planned_process *own,
		     const struct observed_act *told)
{
	own->now = told->entered;
	if (own->now < own->began)
		own->began = own->now;
	if (own->now > own->latest)
		own->latest = own->now;
}

/* A thread, and the operation of it that an act has become. */
static uint64_t token_of(const struct planned_thread *thread)
{
	return (uint64_t)thread->number << 32 | thread->count;
}

static struct replay_op *op_of(const struct planned_process *own,
			       uint64_t token)
{
	const struct planned_thread *thread = own->threads[token >> 32];

	return &thread->ops[(token & UINT32_MAX) - 1];
}

static uint64_t take_released(struct planned_process *own,
			      struct planned_thread *thread,
			      const struct heap_act *act)
{
	struct replay_op op = { .kind = REPLAY_FREE };

	if (act->handle) {
		op.block = let_go(own, act->handle);
		if (!op.block) {
			own->counts.skipped++;
			return 0;
		}
		op.waits = is_anothers(own, op.block, thread);
	}
	add_op(own, thread, &op);
	return token_of(thread);
}

static uint64_t take_resized(struct planned_process *own,
			     struct planned_thread *thread,
			     const struct heap_act *act)
{
	struct replay_op op = { .kind = REPLAY_REALLOC, .size = act->size };

	if (act->old) {
		op.old = let_go(own, act->old);
		if (!op.old)
			own->counts.adopted++;
		else
			op.waits = is_anothers(own, op.old, thread);
	}
	add_op(own, thread, &op);
	return token_of(thread);
}

static uint64_t on_taken(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct planned_process *own =
		process_of((struct planner *)observer, told->process);
	const struct heap_act *act = told->act;
	struct planned_thread *thread;

	if (!is_wanted(own, act))
		return 0;
	set_time(own, told);
	thread = thread_of(own, act->tid);
	return act->function->act == FAMILY_RELEASE ?
		       take_released(own, thread, act) :
		       take_resized(own, thread, act);
}

/* It wasn't given back, or not by what it seemed to be. */
static void undo(struct planned_process *own, uint64_t token, uint64_t handle)
{
	struct replay_op *op = op_of(own, token);
	uint32_t block = op->kind == REPLAY_FREE ? op->block : op->old;

	op->kind = REPLAY_NOTHING;
	if (block && !live_find(&own->live, handle))
		hold(own, handle, block);
}

static void end_resize(struct planned_process *own, uint64_t token,
		       const struct heap_act *act)
{
	struct replay_op *op = op_of(own, token);

	if (act->handle && !act->failed) {
		add_unseen(own, own->threads[token >> 32], act->handle);
		op = op_of(own, token);
		op->size = act->size;
		op->block = new_block(own, act->size, token >> 32);
		hold(own, act->handle, op->block);
	} else if (!act->size && op->old) {
		op->kind = REPLAY_FREE; /* as realloc(p, 0) is, often */
		op->block = op->old;
	} else {
		own->counts.failed++;
		undo(own, token, act->old);
	}
}

static void end_acquisition(struct planned_process *own,
			    const struct heap_act *act)
{
	struct planned_thread *thread = thread_of(own, act->tid);
	struct replay_op op = { .kind = kind_of(act), .size = act->size };

	if (!act->handle || act->failed) {
		own->counts.failed++;
		return;
	}
	add_unseen(own, thread, act->handle);
	op.block = new_block(own, act->size, thread->number);
	if (op.kind == REPLAY_ALIGNED)
		op.alignment = site_of(own, act);
	add_op(own, thread, &op);
	hold(own, act->handle, op.block);
}

static void on_ended(struct act_observer *observer,
		     const struct observed_act *told)
{
	struct planned_process *own =
		process_of((struct planner *)observer, told->process);
	const struct heap_act *act = told->act;

	if (!is_wanted(own, act))
		return;
	set_time(own, told);
	if (act->function->act == FAMILY_ACQUIRE)
		end_acquisition(own, act);
	else if (act->function->act == FAMILY_RESIZE && told->token)
		end_resize(own, told->token, act);
}

static void on_abandoned(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct planned_process *own =
		process_of((struct planner *)observer, told->process);
	const struct heap_act *act = told->act;

	if (told->token && is_wanted(own, act))
		undo(own, told->token,
		     act->function->act == FAMILY_RELEASE ? act->handle :
							    act->old);
}

static const struct act_observer_ops observer_ops = {
	.taken = on_taken,
	.ended = on_ended,
	.abandoned = on_abandoned,
};

/* ---- the plan ---- */

#define ALIGNMENT_MAX 4096

static uint32_t alignment_of(const struct planned_process *own,
			     const struct replay_op *op)
{
	const uint64_t bits = own->sites[op->alignment]->bits | ALIGNMENT_MAX;
	const uint64_t lowest = bits & -bits;

	return lowest < sizeof(void *) ? sizeof(void *) : lowest;
}

static void count_op(struct plan_counts *counts, const struct replay_op *op)
{
	counts->operations++;
	counts->ops[op->kind]++;
	counts->handed += op->waits;
}

static int compare_ends(const void *a, const void *b)
{
	const struct planned_thread *x = *(struct planned_thread *const *)a;
	const struct planned_thread *y = *(struct planned_thread *const *)b;

	return x->last < y->last ? -1 : x->last > y->last;
}

/* The threads in the order in which they end. */
struct plan_ends {
	struct planned_thread **threads;
	size_t at;
};

/*
 * Before a thread starts, all those have ended that had then: so there are no
 * more at once than there were.
 */
static uint64_t put_joins(const struct planned_process *own,
			  struct plan_ends *ends, const struct replay_op *start,
			  struct replay_op *out)
{
	const uint64_t first = own->threads[start->block]->first;
	uint64_t count = 0;

	for (; ends->at < own->thread_count &&
	       ends->threads[ends->at]->last <= first;
	     ends->at++)
		if (ends->threads[ends->at]->number)
			out[count++] = (struct replay_op){
				.kind = REPLAY_JOIN,
				.block = ends->threads[ends->at]->number
			};
	return count;
}

/* The recording ends inside of a resize: what it was to give back is held. */
static bool leave_out(struct planned_process *own, const struct replay_op *op)
{
	if (op->kind != REPLAY_REALLOC || op->block)
		return false;
	own->counts.failed++;
	if (op->old)
		own->live_size += own->blocks[op->old - 1].size;
	return true;
}

static uint64_t put_ops(struct planned_process *own,
			const struct planned_thread *thread,
			struct plan_ends *ends, struct replay_op *out)
{
	uint64_t count = 0;

	for (size_t i = 0; i < thread->count; i++) {
		struct replay_op op = thread->ops[i];

		if (op.kind == REPLAY_NOTHING || leave_out(own, &op))
			continue;
		op.when -= own->began;
		if (op.kind == REPLAY_START)
			count += put_joins(own, ends, &op, out + count);
		else
			count_op(&own->counts, &op);
		if (op.kind == REPLAY_ALIGNED)
			op.alignment = alignment_of(own, &op);
		out[count++] = op;
	}
	return count;
}

static void put(struct planned_process *own, struct replay_plan *plan)
{
	struct replay_thread *threads = (struct replay_thread *)(plan + 1);
	struct replay_op *ops =
		(struct replay_op *)(threads + own->thread_count);
	struct plan_ends ends = {
		.threads = xcalloc(own->thread_count, sizeof(*ends.threads)),
	};

	memcpy(ends.threads, own->threads,
	       own->thread_count * sizeof(*ends.threads));
	qsort(ends.threads, own->thread_count, sizeof(*ends.threads),
	      compare_ends);
	plan->threads = own->thread_count;
	plan->blocks = own->block_count;
	for (size_t i = 0; i < own->thread_count; i++) {
		threads[i].first = plan->ops;
		threads[i].count =
			put_ops(own, own->threads[i], &ends, ops + plan->ops);
		plan->ops += threads[i].count;
	}
	free(ends.threads);
	plan->has_aligned = own->counts.ops[REPLAY_ALIGNED];
	own->counts.threads = own->thread_count;
	own->counts.final = own->live_size;
}

static int write_plan(struct planned_process *own,
		      const struct plan_manner *manner, int *fd_ret)
{
	/* A join for each thread, at most. */
	const uint64_t size =
		sizeof(struct replay_plan) +
		own->thread_count * sizeof(struct replay_thread) +
		(own->ops + own->thread_count) * sizeof(struct replay_op);
	int fd = memfd_create("calltrap-plan", 0), err = 0;
	struct replay_plan *plan = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, size))
		plan = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
	if (plan == MAP_FAILED) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	plan->size = size;
	plan->touch = manner->touch;
	plan->paced = manner->paced;
	put(own, plan);
	munmap(plan, size);
	*fd_ret = fd;
	return 0;
}

int planner_take(struct planner *planner, const struct plan_manner *manner,
		 int *fd_ret, struct plan_counts *counts_ret)
{
	struct planned_process *most = NULL;
	uint64_t others = 0;
	int err;

	for (struct planned_process *own = planner->processes; own;
	     own = own->next) {
		others += own->ops > 0;
		if (own->ops && (!most || own->ops > most->ops))
			most = own;
	}
	if (!most)
		return -ENODATA;
	if (most->full)
		return -EFBIG;
	most->counts.span = most->latest - most->began;
	err = write_plan(most, manner, fd_ret);
	*counts_ret = most->counts;
	counts_ret->others = others - 1;
	return err;
}

/* ---- */

struct act_observer *planner_observer(struct planner *planner)
{
	return &planner->observer;
}

struct planner *planner_new(void)
{
	struct planner *planner = xcalloc(1, sizeof(*planner));

	planner->observer.ops = &observer_ops;
	return planner;
}

static void process_free(struct planned_process *own)
{
	HASH_CLEAR(hh, own->by_tid);
	HASH_CLEAR(hh, own->by_key);
	for (size_t i = 0; i < own->thread_count; i++) {
		free(own->threads[i]->ops);
		free(own->threads[i]);
	}
	for (size_t i = 0; i < own->site_count; i++)
		free(own->sites[i]);
	free(own->threads);
	free(own->sites);
	free(own->blocks);
	live_fini(&own->live);
	free(own);
}

void planner_free(struct planner *planner)
{
	struct planned_process *own = planner->processes, *next;

	for (; own; own = next) {
		next = own->next;
		process_free(own);
	}
	free(planner);
}
