/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TESTS_PLAN_CHECK_H
#define CALLTRAP_TESTS_PLAN_CHECK_H

#include <stdlib.h>

#include "replay/plan.h"

/*
 * Carries a plan out without memory: each thread as far as it comes, until all
 * are at their end. Returns what is wrong with it, or NULL. Whoever performs it
 * relies on all of this.
 */
struct plan_check {
	const struct replay_plan *plan;
	uint8_t *blocks;  /* 0: not yet; 1: held; 2: given back */
	uint8_t *threads; /* 0: not yet; 1: runs; 2: was waited for */
	uint64_t *at;     /* of each thread: how many it has done */
	const char *problem;
};

static inline bool plan_check_acquire(struct plan_check *check, uint32_t block)
{
	if (!block || block > check->plan->blocks)
		check->problem = "a block has no place";
	else if (check->blocks[block])
		check->problem = "a block comes to be twice";
	else
		check->blocks[block] = 1;
	return !check->problem;
}

/* False: it isn't there yet, or never will be. */
static inline bool plan_check_release(struct plan_check *check,
				      const struct replay_op *op,
				      uint32_t block)
{
	if (!block)
		return true;
	if (block > check->plan->blocks)
		check->problem = "a block has no place";
	else if (check->blocks[block] == 2)
		check->problem = "a block is given back twice";
	else if (!check->blocks[block] && !op->waits)
		check->problem = "a block isn't there, and nobody waits";
	if (check->problem || !check->blocks[block])
		return false;
	check->blocks[block] = 2;
	return true;
}

static inline bool plan_check_done(const struct plan_check *check,
				   uint32_t thread)
{
	return check->at[thread] ==
	       replay_plan_threads(check->plan)[thread].count;
}

static inline bool plan_check_thread(struct plan_check *check,
				     const struct replay_op *op)
{
	const bool starts = op->kind == REPLAY_START;

	if (!op->block || op->block >= check->plan->threads)
		check->problem = "there is no such thread";
	else if (check->threads[op->block] != !starts)
		check->problem = "a thread is started twice, or waited for";
	else if (starts || plan_check_done(check, op->block))
		check->threads[op->block]++;
	else
		return false;
	return !check->problem;
}

/* False: it has to wait, or something is wrong. */
static inline bool plan_check_step(struct plan_check *check,
				   const struct replay_op *op)
{
	switch (op->kind) {
	case REPLAY_START:
	case REPLAY_JOIN:
		return plan_check_thread(check, op);
	case REPLAY_FREE:
		return plan_check_release(check, op, op->block);
	case REPLAY_REALLOC:
		return plan_check_release(check, op, op->old) &&
		       plan_check_acquire(check, op->block);
	case REPLAY_ALIGNED:
		if (op->alignment < sizeof(void *) ||
		    op->alignment & (op->alignment - 1))
			check->problem = "an alignment is none";
		/* fall through */
	case REPLAY_MALLOC:
	case REPLAY_CALLOC:
		return plan_check_acquire(check, op->block);
	default:
		check->problem = "there is no such operation";
		return false;
	}
}

/* How many steps were taken. */
static inline uint64_t plan_check_round(struct plan_check *check)
{
	const struct replay_thread *threads = replay_plan_threads(check->plan);
	const struct replay_op *ops = replay_plan_ops(check->plan);
	uint64_t steps = 0;

	for (uint32_t i = 0; i < check->plan->threads; i++)
		while (check->threads[i] && !plan_check_done(check, i) &&
		       plan_check_step(check,
				       &ops[threads[i].first + check->at[i]])) {
			check->at[i]++;
			steps++;
		}
	return check->problem ? 0 : steps;
}

static inline const char *plan_check(const struct replay_plan *plan)
{
	const struct replay_thread *threads = replay_plan_threads(plan);
	struct plan_check check = { .plan = plan };
	uint64_t first = 0;

	for (uint64_t i = 0; i < plan->threads; i++) {
		if (threads[i].first != first)
			return "operations aren't where they must be";
		first += threads[i].count;
	}
	if (first != plan->ops ||
	    (const char *)(replay_plan_ops(plan) + plan->ops) >
		    (const char *)plan + plan->size)
		return "there are more operations than room";
	check.blocks = calloc(plan->blocks + 1, 1);
	check.threads = calloc(plan->threads, 1);
	check.at = calloc(plan->threads, sizeof(*check.at));
	check.threads[0] = 1;
	while (plan_check_round(&check))
		;
	for (uint32_t i = 0; i < plan->threads; i++)
		if (!check.problem && !plan_check_done(&check, i))
			check.problem = "threads wait for each other, for ever";
	free(check.blocks);
	free(check.threads);
	free(check.at);
	return check.problem;
}

#endif
