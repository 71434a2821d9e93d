/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/walk.h"

#include "sysdeps/x86_64/agent/returns.h"

/* A frame while it is walked over; all of the stack up to high is there. */
struct step {
	uint64_t address; /* in the code */
	uint64_t sp, fp;
	uint64_t high;
	uint64_t own_high; /* of the stack that the walk began on */
	uint64_t left;     /* where the last one was left for another; or 0 */
	bool knows_fp;
	bool by_chain; /* it was found by frame pointers alone */
	/* What it depends on goes there; or NULL. */
	struct agent_walk *log;
	uint64_t slot;
	uint64_t fp_at; /* where .fp was read, and hasn't been used; or 0 */
	bool fp_is_own; /* of who has called */
	unsigned logged;
};

static inline bool is_hook(uint64_t address)
{
	return address >= (uint64_t)&agent_header &&
	       address < (uint64_t)agent_end && address != PLACE;
}

/* Rows go all at once: so none is behind a place that is free. */
static __attribute__((noinline)) uint64_t find_row(uint64_t address)
{
	const unsigned home = agent_row_home(address);
	unsigned i;

	for (i = 0; i < AGENT_ROW_PROBING; i++) {
		const struct agent_row *row =
			&agent_shared.rows[(home + i) % AGENT_ROWS];
		const uint64_t found =
			__atomic_load_n(&row->address, __ATOMIC_ACQUIRE);

		if (!found)
			return 0;
		if (found == address)
			return row->rule;
	}
	return 0;
}

/* Whatever lies there is looked at 32 times at most. */
static uint64_t rule_in_table(const struct agent_table *table, uint64_t offset)
{
	const struct agent_tables *code = &agent_shared.code;
	const uint64_t stride = table->stride + (offset >> AGENT_STRIDE_BITS);
	uint32_t low = code->strides[stride % AGENT_STRIDES];
	uint32_t high = code->strides[(stride + 1) % AGENT_STRIDES] + 1;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (code->spans[middle % AGENT_SPANS].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return code
		->rules[code->spans[low % AGENT_SPANS].rule % AGENT_SPAN_RULES];
}

/* By the byte before: a call may be its function's last instruction. */
static __attribute__((noinline)) uint64_t look_into_tables(uint64_t address)
{
	const uint64_t call = address - 1;
	unsigned i;

	for (i = 0; i < AGENT_TABLES; i++) {
		const struct agent_table *table = &agent_shared.code.tables[i];
		const uint64_t high =
			__atomic_load_n(&table->high, __ATOMIC_ACQUIRE);

		if (call < high && call >= table->low)
			return rule_in_table(table, call - table->low);
	}
	return 0;
}

static __attribute__((noinline)) uint64_t look(struct agent_found *found,
					       uint64_t address, uint64_t era)
{
	uint64_t rule = find_row(address);

	if (!rule)
		rule = look_into_tables(address);
	if (!rule)
		return 0;
	__atomic_store_n(&found->rule, rule, __ATOMIC_RELAXED);
	__atomic_store_n(&found->both, agent_found_word(address, rule, era),
			 __ATOMIC_RELAXED);
	return rule;
}

/*
 * To look takes as long as the rest of a walk: its words lie all over some MiB, and what
 * has no row of its own is looked for among those as well.
 */
static inline uint64_t find_in_all(uint64_t address, uint64_t era)
{
	struct agent_found *found =
		&agent_shared.code.found[agent_row_home(address)];
	const uint64_t rule = __atomic_load_n(&found->rule, __ATOMIC_RELAXED);

	if (rule && __atomic_load_n(&found->both, __ATOMIC_RELAXED) ==
			    agent_found_word(address, rule, era))
		return rule;
	return look(found, address, era);
}

/* What frame pointers lead to is no return address before it has a row of its own. */
static inline bool find_any_rule(const struct step *step, uint64_t era,
				 uint64_t *ret)
{
	*ret = __builtin_expect(step->by_chain, 0) ?
		       find_row(step->address) :
		       find_in_all(step->address, era);
	return *ret;
}

/* A word between a frame's begin and the end of the stack. */
static inline bool read_stack(const struct step *step, uint64_t at,
			      uint64_t *ret)
{
	if (at < step->sp || at > step->high - sizeof(*ret) ||
	    at % sizeof(*ret))
		return false;
	*ret = *(const uint64_t *)at;
	return true;
}

/* What is too much, or too far, isn't remembered at all. */
static inline void log_word(struct step *step, uint64_t at, uint64_t word)
{
	const uint64_t offset = (at - step->slot) / sizeof(word);

	if (!step->log)
		return;
	if (step->logged == AGENT_WALK_WORDS || offset > UINT16_MAX ||
	    word == PLACE || is_forked()) {
		step->log = NULL;
		return;
	}
	if (offset > step->log->reach)
		step->log->reach = offset;
	step->log->at[step->logged] = (uint16_t)offset;
	step->log->words[step->logged++] = word;
}

static __attribute__((noinline)) void log_fp(struct step *step)
{
	if (step->fp_is_own && step->log)
		step->log->by_fp = 1;
	else if (step->fp_at)
		log_word(step, step->fp_at, step->fp);
	step->fp_at = 0;
}

static inline void take_fp(struct step *step, uint64_t at)
{
	step->knows_fp = true;
	step->fp_is_own = false;
	step->fp_at = at;
}

/* Where goroutines' stacks lie nothing is ever unmapped. */
static uint64_t other_stacks_end(uint64_t at)
{
	const uint64_t high =
		__atomic_load_n(&agent_shared.other_high, __ATOMIC_ACQUIRE);
	const uint64_t low =
		__atomic_load_n(&agent_shared.other_low, __ATOMIC_ACQUIRE);

	return at >= low && at < high &&
			       high == __atomic_load_n(&agent_shared.other_high,
						       __ATOMIC_ACQUIRE) ?
		       high :
		       0;
}

/*
 * runtime.asmcgocall() notes who has called, as that one's stack may be moved while C
 * runs, if it calls back. What the frame pointer leads to then isn't its frame. So it
 * must lie near: see src/stack/switch.c, which walks by the same rules.
 */
static bool is_called_by(uint64_t depth, uint64_t goroutine, uint64_t fp)
{
	const uint64_t *bounds = (const uint64_t *)goroutine;
	uint64_t end, low, high;

	if (!depth || depth > AGENT_GO_DEPTH_MAX || depth % sizeof(depth) ||
	    goroutine % sizeof(goroutine))
		return false;
	end = other_stacks_end(goroutine);
	if (!end || end - goroutine < 2 * sizeof(*bounds))
		return false;
	low = bounds[0];
	high = bounds[1];
	return high > low && depth <= high - low &&
	       fp - (high - depth) < AGENT_GO_NEAR;
}

static bool is_noted(const struct step *step, uint64_t fp)
{
	uint64_t below, word, at = step->sp;
	unsigned i;

	if (!read_stack(step, at, &below))
		return false;
	for (i = 1; i < AGENT_GO_NOTED_WITHIN; i++) {
		at += sizeof(word);
		if (!read_stack(step, at, &word))
			return false;
		if (is_called_by(below, word, fp))
			return true;
		below = word;
	}
	return false;
}

/* C's functions have been called from there; or, on the thread's own, have called back. */
static bool switch_stacks(struct step *step)
{
	const uint64_t high = step->fp >= step->slot &&
					      step->fp < step->own_high ?
				      step->own_high :
				      other_stacks_end(step->fp);

	if (!high || !(step->left ? step->fp - step->left < AGENT_GO_NEAR :
				    is_noted(step, step->fp) || step->by_chain))
		return false;
	step->left = step->sp;
	step->sp = step->fp;
	step->high = high;
	step->log = NULL;
	return true;
}

/*
 * push fp; mov sp, fp: where there are no tables. Whether what is found there is a
 * return address is known by its having a rule.
 */
static __attribute__((noinline)) bool step_by_chain(struct step *step,
						    bool switches)
{
	const uint64_t fp = step->fp;
	uint64_t address;

	if (!step->knows_fp)
		return false;
	log_fp(step);
	if ((fp < step->sp || fp >= step->high) &&
	    !(switches && switch_stacks(step)))
		return false;
	if (fp - step->sp > AGENT_FRAME_MAX ||
	    !read_stack(step, fp + sizeof(fp), &address) ||
	    !read_stack(step, fp, &step->fp))
		return false;
	log_word(step, fp + sizeof(fp), address);
	take_fp(step, fp);
	step->by_chain = true;
	step->address = true_return(fp + sizeof(fp), address);
	step->sp = fp + 2 * sizeof(fp);
	return true;
}

/* A frame pointer of 0 is the end of a chain; else it is just a number. */
static inline bool ends_chain(struct step *step, uint64_t rule)
{
	if (!(rule & AGENT_RULE_BY_CHAIN) || !step->by_chain || step->fp)
		return false;
	log_fp(step);
	return true;
}

/* To the caller's; false where that takes more than rules have. */
static inline bool step_out(struct step *step, uint64_t rule)
{
	const uint64_t base = rule & AGENT_RULE_BY_FP ? step->fp : step->sp;
	uint64_t end = base + agent_rule_offset(rule);
	uint64_t address;

	if (rule & AGENT_RULE_BY_CHAIN)
		return step_by_chain(step, rule & AGENT_RULE_SWITCHES);
	if (rule & AGENT_RULE_BY_FP && !step->knows_fp)
		return false;
	if (rule & AGENT_RULE_BY_FP)
		log_fp(step);
	if (rule & AGENT_RULE_IN_MEMORY) {
		const uint64_t at = end;

		if (!read_stack(step, at, &end))
			return false;
		log_word(step, at, end);
	}
	if (end <= step->sp || end > step->high ||
	    !read_stack(step, end - sizeof(address), &address))
		return false;
	log_word(step, end - sizeof(address), address);
	if (rule & AGENT_RULE_FP_UNKNOWN)
		step->knows_fp = false;
	if (rule & AGENT_RULE_FP_SAVED) {
		const uint64_t at = end + agent_rule_fp_offset(rule);

		if (!read_stack(step, at, &step->fp))
			return false;
		take_fp(step, at);
	}
	step->by_chain = false;
	step->address = true_return(end - sizeof(address), address);
	step->sp = end;
	return true;
}

/* Of a call that a hook has made: to where the hook was called. */
static __attribute__((noinline)) bool step_over_hook(struct step *step)
{
	const uint64_t at =
		step->sp + offsetof(struct agent_frame, return_address);
	uint64_t address;

	if (at >= step->high || !read_stack(step, at, &address))
		return false;
	log_word(step, at, address);
	step->by_chain = false;
	step->address = true_return(at, address);
	step->sp = at + sizeof(address);
	return true;
}

/*
 * One more than the depth is looked at: whether the stack goes on. Where calls within
 * others are none, it ends at a hook.
 */
static inline bool walk(struct step *step, uint64_t depth, bool all,
			struct stack *ret)
{
	const uint64_t era =
		__atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE);
	uint64_t rule;

	ret->count = 0;
	ret->complete = ret->within = false;
	if (era & 1)
		return false;
	for (;;) {
		if (!find_any_rule(step, era, &rule)) {
			ret->within = is_hook(step->address);
			if (ret->within && all && step_over_hook(step))
				continue;
			return false;
		}
		if (ret->count == depth)
			break;
		ret->frames[ret->count++] = step->address;
		ret->complete = rule & AGENT_RULE_OUTERMOST ||
				ends_chain(step, rule);
		if (ret->complete)
			break;
		if (!step_out(step, rule))
			return false;
	}
	return __atomic_load_n(&agent_shared.rows_era, __ATOMIC_ACQUIRE) == era;
}

/* Whole steps are compared. */
static void end_log(struct step *step)
{
	struct agent_walk *log = step->log;
	unsigned i = step->logged;

	for (; log && i && i % AGENT_WALK_STEP; i++) {
		log->at[i] = log->at[i - 1];
		log->words[i] = log->words[i - 1];
	}
	step->logged = i;
}

bool take_stack(const struct config *config, const struct agent_thread *thread,
		const struct agent_frame *frame, uint64_t fp,
		struct agent_walk *log, struct stack *ret)
{
	struct step step = {
		.address = caller_of(frame),
		.sp = frame->slot + sizeof(frame->slot),
		.fp = fp,
		.high = thread->stack_high,
		.own_high = thread->stack_high,
		.knows_fp = true,
		.fp_is_own = true,
		.log = log,
		.slot = frame->slot,
	};

	if (!may_walk(config, thread, frame->slot) ||
	    !walk(&step, config->depth, config->mode & AGENT_RECORDS, ret))
		return false;
	end_log(&step);
	if (log && !is_forked())
		log->count = step.log ? step.logged : 0;
	return true;
}
