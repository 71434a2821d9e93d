/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/gather_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "report/format/names.h"

/* What all this may take of the time in which others wait for us. */
#define SHARE 50

/* Rates are means of at least that; verdicts are for so long. */
#define RATE_TIME  (NS_PER_SECOND * 9 / 10)
#define JUDGE_TIME (2 * NS_PER_SECOND)

/* As long names are worked out each time. */
#define NAME_TIME (NS_PER_SECOND / 250)

struct gather *gather_new(const struct gather_options *options)
{
	struct gather *gather = xcalloc(1, sizeof(*gather));

	gather->options = *options;
	gather->begin = gather->mark = gather->rated_at = clock_now();
	gather->last = gather->begin;
	return gather;
}

static void judged_free(struct gather *gather)
{
	struct judged *judged, *next;

	HASH_ITER(hh, gather->judged, judged, next) {
		HASH_DEL(gather->judged, judged);
		verdicts_free(judged->verdicts);
		free(judged->births);
		free(judged);
	}
}

void gather_free(struct gather *gather)
{
	struct memo *memo, *next;

	if (!gather)
		return;
	HASH_ITER(hh, gather->memos, memo, next) {
		HASH_DEL(gather->memos, memo);
		free(memo->name);
		free(memo);
	}
	judged_free(gather);
	free(gather);
}

struct memo *memo_find(const struct gather *gather, uint64_t key)
{
	struct memo *memo;

	HASH_FIND(hh, gather->memos, &key, sizeof(key), memo);
	return memo;
}

static struct memo *memo_take(struct gather *gather, uint64_t key)
{
	struct memo *memo = memo_find(gather, key);

	if (memo)
		return memo;
	memo = xcalloc(1, sizeof(*memo));
	memo->key = key;
	memo->since = gather->last;
	HASH_ADD(hh, gather->memos, key, sizeof(memo->key), memo);
	return memo;
}

const struct judged *judged_find(const struct gather *gather,
				 const struct watched *process)
{
	struct judged *judged;

	HASH_FIND_INT(gather->judged, &process->pid, judged);
	return judged && judged->start == process->start ? judged : NULL;
}

/* ---- verdicts ---- */

static void judge(struct gather *gather, const struct watched *process)
{
	const struct heap *heap = process->heap;
	uint64_t now = heap_time(heap, clock_now());
	struct survey *survey = survey_new(heap, now, 0);
	struct judged *judged = xcalloc(1, sizeof(*judged));

	judged->pid = process->pid;
	judged->start = process->start;
	judged->count = heap_site_count(heap);
	judged->verdicts = verdicts_of(heap, survey);
	judged->births = xcalloc(judged->count + 1, sizeof(*judged->births));
	for (size_t i = 0; i < judged->count; i++) {
		uint64_t oldest =
			survey_site(survey, heap_site(heap, i + 1))->oldest;

		judged->births[i] = oldest ? now - oldest : 0;
	}
	survey_free(survey);
	HASH_ADD_INT(gather->judged, pid, judged);
}

static void judge_all(struct gather *gather, uint64_t now)
{
	const struct watch *watch = gather->options.watch;
	const struct watched *process;
	uint64_t took;

	if (now < gather->judge_next)
		return;
	judged_free(gather);
	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process))
		judge(gather, process);
	gather->judged_at = clock_now();
	took = gather->judged_at - now;
	gather->judge_next =
		gather->judged_at +
		(took * SHARE > JUDGE_TIME ? took * SHARE : JUDGE_TIME);
}

/* ---- the head ---- */

/* By how much the thread is slowed that is slowed most, since the last time. */
static double still_share(struct gather *gather, const struct cost *cost)
{
	double most = 0;

	for (unsigned i = 0; i < cost->thread_count; i++) {
		struct thread_cost now = cost->threads[i];

		for (unsigned k = 0; k < gather->thread_count; k++) {
			const struct thread_cost *last = &gather->threads[k];

			if (last->tid != now.tid ||
			    last->seen_ns > now.seen_ns ||
			    last->still_ns > now.still_ns)
				continue;
			now.still_ns -= last->still_ns;
			now.seen_ns -= last->seen_ns;
		}
		if (cost_share(&now) > most)
			most = cost_share(&now);
	}
	gather->thread_count = cost->thread_count;
	memcpy(gather->threads, cost->threads, sizeof(gather->threads));
	return most < 1 ? most : 1;
}

static void add_verdict(const struct site *site, const struct verdict *verdict,
			struct live_picture *ret)
{
	bool likely = verdict->level == VERDICT_LIKELY;

	if (verdict->level == VERDICT_NOT || !site->blocks)
		return;
	*(likely ? &ret->likely : &ret->possible) += 1;
	if (site->function->family->has_size)
		*(likely ? &ret->likely_bytes : &ret->possible_bytes) +=
			site->bytes;
}

static void add_process(const struct gather *gather,
			const struct watched *process, uint64_t *acquired,
			struct live_picture *ret)
{
	const struct judged *judged = judged_find(gather, process);

	ret->resident += process->vitals.resident_bytes;
	ret->first_resident += process->first_vitals.resident_bytes;
	for (size_t i = 0; i < heap_family_count(process->heap); i++) {
		const struct family *family = heap_family(process->heap, i);
		const struct heap_total *total =
			heap_total(process->heap, family);

		if (!family->has_size)
			continue;
		ret->bytes += total->bytes;
		ret->blocks += total->blocks;
		*acquired += total->alloc_bytes;
	}
	for (size_t i = 0; judged && i < judged->count; i++) {
		const struct site *site = heap_site(process->heap, i + 1);

		add_verdict(site, verdicts_site(judged->verdicts, site), ret);
	}
}

static void add_what(const struct gather *gather, struct live_picture *ret)
{
	const struct watch *watch = gather->options.watch;
	const struct watched *first = watch_next(watch, NULL), *process;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	unsigned count = 0;

	for (process = first; process; process = watch_next(watch, process))
		count++;
	if (!first)
		strbuf_puts(&text, "no process is left");
	else if (first->name[0])
		names_escape(&text, first->name);
	else
		names_escape(&text, file_base_name(first->program));
	if (first)
		strbuf_printf(&text, " (%d)", (int)first->pid);
	if (count > 1)
		strbuf_printf(&text, " and %u more", count - 1);
	gather_copy(ret->what, sizeof(ret->what), &text);
}

static double rate_of(uint64_t now, uint64_t before, uint64_t time)
{
	return now > before && time ?
		       (double)(now - before) * NS_PER_SECOND / time :
		       0;
}

static void add_rates(struct gather *gather, uint64_t acquired, uint64_t calls,
		      const struct cost *cost, uint64_t now,
		      struct live_picture *ret)
{
	uint64_t time = now - gather->rated_at;

	if (time >= RATE_TIME) {
		gather->rate = rate_of(acquired, gather->acquired, time);
		gather->call_rate = rate_of(calls, gather->calls, time);
		gather->stop_rate = rate_of(cost->stops, gather->stops, time);
		gather->still = still_share(gather, cost);
		gather->acquired = acquired;
		gather->calls = calls;
		gather->stops = cost->stops;
		gather->rated_at = now;
		live_spark_add(&gather->resident_spark, ret->resident);
		live_spark_add(&gather->bytes_spark, ret->bytes);
		live_spark_add(&gather->rate_spark, gather->rate);
		live_spark_add(&gather->still_spark, gather->still);
	}
	ret->rate = gather->rate;
	ret->calls = gather->call_rate;
	ret->stops = gather->stop_rate;
	ret->still = gather->still;
	ret->resident_spark = gather->resident_spark;
	ret->bytes_spark = gather->bytes_spark;
	ret->rate_spark = gather->rate_spark;
	ret->still_spark = gather->still_spark;
}

static void add_head(struct gather *gather, const struct cost *cost,
		     uint64_t now, struct live_picture *ret)
{
	const struct watch *watch = gather->options.watch;
	uint64_t acquired = 0, calls = 0;
	const struct watched *process;

	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process)) {
		add_process(gather, process, &acquired, ret);
		calls += process->calls;
	}
	add_what(gather, ret);
	add_rates(gather, acquired, calls, cost, now, ret);
	ret->watched = now - gather->begin;
	ret->marked = now - gather->mark;
	ret->is_marked = gather->is_marked;
	if (!gather->judged_at)
		ret->judged = -1;
	else if (now > gather->judged_at)
		ret->judged = (double)(now - gather->judged_at) / NS_PER_SECOND;
}

/* ---- rows ---- */

static void finish_row(struct gather *gather, struct tally *tally, uint64_t now)
{
	bool is_new = !tally->site && !memo_find(gather, tally->row.key);
	struct memo *memo = memo_take(gather, tally->row.key);
	uint64_t time;

	/* What sites acquired before they were put together isn't new. */
	if (is_new) {
		memo->acquired = tally->acquired;
		memo->since = now;
	}
	time = now > memo->since ? now - memo->since : 0;
	tally->row.change = tally->held - memo->marked;
	if (tally->row.rate < 0)
		return;
	if (time >= RATE_TIME) {
		memo->rate = rate_of(tally->acquired, memo->acquired, time);
		memo->acquired = tally->acquired;
		memo->since = now;
	}
	tally->row.rate = memo->rate;
}

static int compare_numbers(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare(const void *a, const void *b, void *order)
{
	const struct tally *x = *(const struct tally *const *)a;
	const struct tally *y = *(const struct tally *const *)b;
	int by = 0;

	switch (*(const enum live_order *)order) {
	case LIVE_ORDER_VERDICT:
		by = (int)y->row.level - (int)x->row.level;
		break;
	case LIVE_ORDER_CHANGE:
		by = compare_numbers(x->row.change, y->row.change);
		break;
	case LIVE_ORDER_RATE:
		by = compare_numbers(x->row.rate, y->row.rate);
		break;
	case LIVE_ORDER_AGE:
		by = compare_numbers(x->row.oldest, y->row.oldest);
		break;
	case LIVE_ORDER_HELD:
	case LIVE_ORDERS:
		break;
	}
	if (!by)
		by = compare_numbers(x->row.bytes, y->row.bytes);
	if (!by)
		by = compare_numbers(x->row.blocks, y->row.blocks);
	return by ? by : (x->row.key > y->row.key) - (x->row.key < y->row.key);
}

static void name_row(struct gather *gather, struct tally *tally, uint64_t until)
{
	struct memo *memo = memo_take(gather, tally->row.key);
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (!tally->site)
		return;
	if (memo->name)
		strbuf_puts(&name, memo->name);
	else if (clock_now() >= until)
		strbuf_puts(&name, "...");
	else if (gather_name(gather, tally->process, tally->site, &name))
		memo->name = xstrdup(strbuf_text(&name));
	gather->unnamed |= !memo->name;
	gather_copy(tally->row.name, sizeof(tally->row.name), &name);
}

static struct tally **pointers_to(struct tallies *tallies, size_t *count_ret)
{
	size_t count = tallies->count + HASH_COUNT(tallies->table), i = 0;
	struct tally **list = xcalloc(count + 1, sizeof(struct tally *));
	struct tally *tally, *next;

	for (; i < tallies->count; i++)
		list[i] = &tallies->list[i];
	HASH_ITER(hh, tallies->table, tally, next)
		list[i++] = tally;
	*count_ret = count;
	return list;
}

static void add_rows(struct gather *gather,
		     const struct gather_request *request, uint64_t now,
		     struct live_picture *ret)
{
	struct tallies tallies = tallies_of(gather, request->by);
	struct tally **list CLEANUP(xfree_cleanup) =
		pointers_to(&tallies, &ret->all);
	uint64_t until = clock_now() + NAME_TIME;
	enum live_order order = request->order;

	gather->unnamed = false;
	for (size_t i = 0; i < ret->all; i++)
		finish_row(gather, list[i], now);
	qsort_r(list, ret->all, sizeof(struct tally *), compare, &order);
	ret->count = ret->all < LIVE_ROWS ? ret->all : LIVE_ROWS;
	for (size_t i = 0; i < ret->count; i++) {
		name_row(gather, list[i], until);
		ret->rows[i] = list[i]->row;
	}
	tallies_fini(&tallies);
}

static void add_stack(const struct gather *gather,
		      const struct gather_request *request,
		      struct live_picture *ret)
{
	CLEANUP(strbuf_fini) struct strbuf stack = { 0 };

	if (!request->open)
		return;
	gather_stack(gather, request->by, request->open, &stack);
	ret->stack_of = request->open;
	gather_copy(ret->stack, sizeof(ret->stack), &stack);
}

void gather_mark(struct gather *gather, uint64_t now)
{
	struct memo *memo, *following;

	HASH_ITER(hh, gather->memos, memo, following)
		memo->marked = 0;
	for (enum live_by by = 0; by < LIVE_BYS; by++) {
		struct tallies tallies = tallies_of(gather, by);
		size_t count;
		struct tally **list CLEANUP(xfree_cleanup) =
			pointers_to(&tallies, &count);

		for (size_t i = 0; i < count; i++) {
			finish_row(gather, list[i], now);
			memo_find(gather, list[i]->row.key)->marked =
				list[i]->held;
		}
		tallies_fini(&tallies);
	}
	gather->mark = now;
	gather->is_marked = true;
}

void gather_make(struct gather *gather, const struct gather_request *request,
		 const struct cost *cost, uint64_t now,
		 struct live_picture *ret)
{
	memset(ret, 0, offsetof(struct live_picture, rows));
	judge_all(gather, now);
	ret->number = ++gather->number;
	ret->by = request->by;
	ret->order = request->order;
	add_head(gather, cost, now, ret);
	add_rows(gather, request, now, ret);
	add_stack(gather, request, ret);
	gather->last = now;
	gather->next = clock_now() + (clock_now() - now) * SHARE;
}

bool gather_lacks_names(const struct gather *gather)
{
	return gather->unnamed;
}

uint64_t gather_next(const struct gather *gather)
{
	return gather->next;
}
