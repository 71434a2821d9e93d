/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/act_stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "heap/live.h"
#include "report/format/names.h"
#include "report/format/short_name.h"

/* Sizes 0, 1, 2, 4, ... 131072, and more. */
#define POWERS  18
#define CLASSES (POWERS + 2)

struct stats_key {
	uint64_t pid, stack;
	const struct family_function *function;
};

/* Where blocks were acquired, and how many others were until they were given
   back. */
struct stats_site {
	struct stats_key key;
	uint32_t number; /* from 1 on */
	struct log_histogram lifetimes;
	UT_hash_handle hh;
};

struct stats_process {
	pid_t pid;
	uint64_t acquired;
	uint64_t sizes[CLASSES];
	struct live live; /* .birth: how many were acquired before it */
	struct log_histogram lifetimes;
	UT_hash_handle hh;
};

struct act_stats {
	struct act_observer observer;
	const struct stacks *stacks;
	struct namer *namer;
	struct stats_process *processes;
	struct stats_site *sites;
	struct stats_site **by_number;
	size_t count, room;
};

static struct stats_process *process_of(struct act_stats *stats, pid_t pid)
{
	struct stats_process *own;

	HASH_FIND_INT(stats->processes, &pid, own);
	if (!own) {
		own = xcalloc(1, sizeof(*own));
		own->pid = pid;
		HASH_ADD_INT(stats->processes, pid, own);
	}
	return own;
}

static uint32_t site_of(struct act_stats *stats, pid_t pid,
			const struct heap_act *act)
{
	struct stats_key key;
	struct stats_site *site;

	memset(&key, 0, sizeof(key));
	key.pid = pid;
	key.stack = act->stack;
	key.function = act->function;
	HASH_FIND(hh, stats->sites, &key, sizeof(key), site);
	if (site)
		return site->number;
	site = xcalloc(1, sizeof(*site));
	site->key = key;
	stats->by_number = xgrow(stats->by_number, stats->count, &stats->room,
				 sizeof(*stats->by_number));
	stats->by_number[stats->count++] = site;
	site->number = stats->count;
	HASH_ADD(hh, stats->sites, key, sizeof(site->key), site);
	return site->number;
}

/* ---- acts ---- */

/* Ranges are released in parts, and have no lifetime of their own. */
static bool is_block(const struct heap_act *act)
{
	return act->function->family->has_size &&
	       !act->function->family->granularity;
}

static void count_size(struct stats_process *own, uint64_t size)
{
	unsigned i = 0;

	if (size)
		for (i = 1; i <= POWERS && size > UINT64_C(1) << (i - 1); i++)
			;
	own->sizes[i]++;
}

static void add_block(struct stats_process *own, uint64_t handle,
		      uint64_t birth, uint32_t site)
{
	struct live_block block;

	(void)live_remove(&own->live, handle, &block);
	live_add(&own->live, &(struct live_block){ .handle = handle,
						   .birth = birth,
						   .site = site });
}

static void end_block(struct act_stats *stats, struct stats_process *own,
		      const struct live_block *block)
{
	uint64_t lived = own->acquired - block->birth;

	log_histogram_add(&own->lifetimes, lived);
	log_histogram_add(&stats->by_number[block->site - 1]->lifetimes, lived);
}

static uint64_t on_taken(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct act_stats *stats = (struct act_stats *)observer;
	struct stats_process *own = process_of(stats, told->process->pid);
	const struct heap_act *act = told->act;
	bool resize = act->function->act == FAMILY_RESIZE;
	struct live_block block;

	if (!is_block(act) ||
	    !live_remove(&own->live, resize ? act->old : act->handle, &block))
		return 0;
	if (!resize) {
		end_block(stats, own, &block);
		return 0;
	}
	/* It lives on, or will be there again. */
	return (uint64_t)block.birth << 24 | (block.site & 0xffffff);
}

static void on_ended(struct act_observer *observer,
		     const struct observed_act *told)
{
	struct act_stats *stats = (struct act_stats *)observer;
	struct stats_process *own = process_of(stats, told->process->pid);
	const struct heap_act *act = told->act;
	bool resize = act->function->act == FAMILY_RESIZE;

	if (!is_block(act) || act->function->act == FAMILY_RELEASE)
		return;
	if (!told->outcome.done && resize && told->token)
		add_block(own, act->old, told->token >> 24,
			  told->token & 0xffffff);
	if (!told->outcome.done || !act->handle)
		return;
	count_size(own, act->size);
	if (resize && told->token)
		add_block(own, act->handle, told->token >> 24,
			  told->token & 0xffffff);
	else
		add_block(own, act->handle, own->acquired++,
			  site_of(stats, told->process->pid, act));
}

static void on_abandoned(struct act_observer *observer,
			 const struct observed_act *told)
{
	struct act_stats *stats = (struct act_stats *)observer;
	struct stats_process *own = process_of(stats, told->process->pid);

	if (told->token && told->act->function->act == FAMILY_RESIZE)
		add_block(own, told->act->old, told->token >> 24,
			  told->token & 0xffffff);
}

static const struct act_observer_ops observer_ops = {
	.taken = on_taken,
	.ended = on_ended,
	.abandoned = on_abandoned,
};

struct act_observer *act_stats_observer(struct act_stats *stats)
{
	return &stats->observer;
}

struct act_stats *act_stats_new(const struct stacks *stacks,
				struct namer *namer)
{
	struct act_stats *stats = xcalloc(1, sizeof(*stats));

	stats->observer.ops = &observer_ops;
	stats->stacks = stacks;
	stats->namer = namer;
	return stats;
}

void act_stats_free(struct act_stats *stats)
{
	struct stats_process *own, *next;

	if (!stats)
		return;
	HASH_ITER(hh, stats->processes, own, next) {
		HASH_DEL(stats->processes, own);
		live_fini(&own->live);
		log_histogram_fini(&own->lifetimes);
		free(own);
	}
	HASH_CLEAR(hh, stats->sites);
	for (size_t i = 0; i < stats->count; i++) {
		log_histogram_fini(&stats->by_number[i]->lifetimes);
		free(stats->by_number[i]);
	}
	free(stats->by_number);
	free(stats);
}

/* ---- text ---- */

static void print_sizes(const struct stats_process *own, struct strbuf *out)
{
	uint64_t all = 0, below = 0;

	for (unsigned i = 0; i < CLASSES; i++)
		all += own->sizes[i];
	strbuf_printf(out, "sizes of %" PRIu64 " acquisitions and resizes:\n",
		      all);
	for (unsigned i = 0; all && i < CLASSES; i++) {
		below += own->sizes[i];
		if (i < CLASSES - 1)
			strbuf_printf(out,
				      "  %6.2f %% are <= %6u bytes; %" PRIu64
				      " more\n",
				      100.0 * below / all,
				      i ? 1u << (i - 1) : 0, own->sizes[i]);
		else
			strbuf_printf(out,
				      "  more than %u bytes: %" PRIu64 "\n",
				      1u << (POWERS - 1), own->sizes[i]);
	}
}

static void print_lifetimes(const struct log_histogram *lifetimes,
			    const char *unit, double scale, struct strbuf *out)
{
	strbuf_printf(out,
		      "%" PRIu64 " given back: half within %.6g%s, "
		      "90 %% %.6g, 99 %% %.6g, the last after %.6g",
		      lifetimes->count,
		      log_histogram_quantile(lifetimes, 500) * scale, unit,
		      log_histogram_quantile(lifetimes, 900) * scale,
		      log_histogram_quantile(lifetimes, 990) * scale,
		      lifetimes->max * scale);
}

#define NAME_WIDTH 60

static void print_caller(const struct act_stats *stats, stack_id stack,
			 struct strbuf *out)
{
	struct frame frames[3];
	size_t count =
		stacks_frames(stats->stacks, stack, frames, ARRAY_SIZE(frames));

	for (size_t i = 0; i < count; i++) {
		const struct frame_name *names;

		(void)namer_names(stats->namer, &frames[i], &names);
		strbuf_puts(out, i ? " < " : "");
		if (names->function)
			short_name_add(out, names->function, NAME_WIDTH);
		else
			strbuf_printf(out, "%#" PRIx64, frames[i].address);
	}
	strbuf_putc(out, '\n');
}

static const struct site *heap_site_at(const struct heap *heap,
				       const struct stats_key *key)
{
	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		if (site->stack == key->stack &&
		    site->function == key->function)
			return site;
	}
	return NULL;
}

static int compare_sites(const void *a, const void *b)
{
	const struct stats_site *x = *(struct stats_site *const *)a;
	const struct stats_site *y = *(struct stats_site *const *)b;

	if (x->lifetimes.count != y->lifetimes.count)
		return x->lifetimes.count < y->lifetimes.count ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

#define SITES_SHOWN 10

static void print_sites(const struct act_stats *stats,
			const struct watched *process, struct strbuf *out)
{
	struct stats_site **sorted = xcalloc(stats->count + 1, sizeof(*sorted));
	size_t count = 0;

	for (size_t i = 0; i < stats->count; i++)
		if (stats->by_number[i]->key.pid == (uint64_t)process->pid)
			sorted[count++] = stats->by_number[i];
	qsort(sorted, count, sizeof(*sorted), compare_sites);
	for (size_t i = 0;
	     i < count && i < SITES_SHOWN && sorted[i]->lifetimes.count; i++) {
		const struct site *site =
			heap_site_at(process->heap, &sorted[i]->key);

		strbuf_puts(out, "at ");
		names_escape(out, sorted[i]->key.function->name);
		strbuf_puts(out, ", ");
		print_caller(stats, sorted[i]->key.stack, out);
		strbuf_puts(out, "  in acquisitions: ");
		print_lifetimes(&sorted[i]->lifetimes, "", 1, out);
		if (site && site->lifetimes.count) {
			strbuf_puts(out, "\n  in time: ");
			print_lifetimes(&site->lifetimes, " s", 1e-9, out);
		}
		strbuf_putc(out, '\n');
	}
	free(sorted);
}

static void print_mistakes(const struct heap *heap, struct strbuf *out)
{
	for (size_t i = 0; i < heap_family_count(heap); i++) {
		const struct family *family = heap_family(heap, i);
		const struct heap_total *total = heap_total(heap, family);

		if (family->granularity)
			continue;
		strbuf_printf(out,
			      "%s: releases of nothing (NULL) %" PRIu64
			      ", released twice %" PRIu64
			      ", acquired before %" PRIu64 ", failed %" PRIu64
			      "\n",
			      family->name, total->null_releases,
			      total->double_frees + total->doubtful_frees,
			      total->unknown_frees, total->failed);
	}
}

void act_stats_print(struct act_stats *stats, const struct watched *process,
		     struct strbuf *out)
{
	const struct stats_process *own = process_of(stats, process->pid);
	struct log_histogram times = { 0 };

	for (size_t i = 1; i <= heap_site_count(process->heap); i++)
		if (!heap_site(process->heap, i)->function->family->granularity)
			log_histogram_merge(&times, &heap_site(process->heap, i)
							     ->lifetimes);
	strbuf_printf(out, "==== process %d\n", (int)process->pid);
	print_sizes(own, out);
	print_mistakes(process->heap, out);
	strbuf_puts(out, "lifetimes in acquisitions: ");
	print_lifetimes(&own->lifetimes, "", 1, out);
	strbuf_puts(out, "\nlifetimes in time: ");
	print_lifetimes(&times, " s", 1e-9, out);
	strbuf_putc(out, '\n');
	print_sites(stats, process, out);
	log_histogram_fini(&times);
}
