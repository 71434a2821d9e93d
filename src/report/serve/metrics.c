/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "heap/verdict.h"
#include "report/format/names.h"
#include "tracee/cost.h"

enum metric {
	HELD_BYTES,
	HELD_BLOCKS,
	LEAKED_BYTES,
	SITES,
	ACQUIRED_BYTES,
	ACQUIRED_BLOCKS,
	RELEASED_BYTES,
	RELEASED_BLOCKS,
	RESIDENT,
	LIMIT,
	CALLS,
	LOST,
	UNKEPT,
	DOUBLE_FREES,
	STOPS,
	STOPPED,
	SLOWED,
	WATCHED,
	METRICS,
};

/* A counter's samples have _total behind its name. */
static const struct {
	const char *name, *unit; /* or NULL */
	bool counts;
	const char *help;
} kinds[METRICS] = {
	[HELD_BYTES] = { "calltrap_held_bytes", "bytes", false,
			 "Acquired since watching began and not given back." },
	[HELD_BLOCKS] = { "calltrap_held_blocks", "blocks", false,
			  "The same in blocks, or descriptors and the like." },
	[LEAKED_BYTES] = { "calltrap_leaked_bytes", "bytes", false,
			   "What of it is leaked, as far as one can tell." },
	[SITES] = { "calltrap_sites", NULL, false,
		    "Call stacks that hold something." },
	[ACQUIRED_BYTES] = { "calltrap_acquired_bytes", "bytes", true,
			     "Acquired since watching began." },
	[ACQUIRED_BLOCKS] = { "calltrap_acquired_blocks", "blocks", true,
			      "The same in blocks." },
	[RELEASED_BYTES] = { "calltrap_released_bytes", "bytes", true,
			     "What of it was given back." },
	[RELEASED_BLOCKS] = { "calltrap_released_blocks", "blocks", true,
			      "The same in blocks." },
	[RESIDENT] = { "calltrap_resident_bytes", "bytes", false,
		       "RSS, as the kernel says." },
	[LIMIT] = { "calltrap_memory_limit_bytes", "bytes", false,
		    "Of its cgroup, if it has one." },
	[CALLS] = { "calltrap_calls", NULL, true, "Of allocators, seen." },
	[LOST] = { "calltrap_lost_calls", NULL, true,
		   "Seen, but with arguments or a result that could not be "
		   "read." },
	[UNKEPT] = { "calltrap_unkept_acquisitions", NULL, true,
		     "Acquisitions for which there was no room." },
	[DOUBLE_FREES] = { "calltrap_double_frees", NULL, true,
			   "Given back twice." },
	[STOPS] = { "calltrap_stops", NULL, true, "What watching has cost." },
	[STOPPED] = { "calltrap_stopped_seconds", "seconds", true,
		      "The same, of all threads, from stop to resumption." },
	[SLOWED] = { "calltrap_slowed_ratio", "ratio", false,
		     "How much of its time the thread stood still that did "
		     "so most." },
	[WATCHED] = { "calltrap_watched_seconds", "seconds", false,
		      "How long the process has been watched." },
};

struct metrics {
	struct strbuf lines[METRICS];
};

struct metrics *metrics_new(void)
{
	return xcalloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics)
{
	for (int i = 0; i < METRICS; i++)
		strbuf_fini(&metrics->lines[i]);
	free(metrics);
}

/* ---- lines ---- */

/* What isn't printable is escaped before. */
static void add_label(struct strbuf *out, const char *name, const char *value)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *c;

	names_escape(&text, value);
	strbuf_printf(out, "%s=\"", name);
	for (c = strbuf_text(&text); *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *c);
	}
	strbuf_putc(out, '"');
}

static const char *name_of(const struct watched *process)
{
	return *process->name ? process->name :
				file_base_name(process->program);
}

static struct strbuf *begin(struct metrics *metrics, enum metric metric,
			    const struct heap_export *export)
{
	struct strbuf *out = &metrics->lines[metric];

	strbuf_printf(out, "%s%s{pid=\"%d\",", kinds[metric].name,
		      kinds[metric].counts ? "_total" : "",
		      (int)export->process->pid);
	add_label(out, "process", name_of(export->process));
	return out;
}

static void add(struct metrics *metrics, enum metric metric,
		const struct heap_export *export, uint64_t number)
{
	strbuf_printf(begin(metrics, metric, export), "} %" PRIu64 "\n",
		      number);
}

static void add_real(struct metrics *metrics, enum metric metric,
		     const struct heap_export *export, double number)
{
	strbuf_printf(begin(metrics, metric, export), "} %.9g\n", number);
}

/* ---- sites ---- */

/* Sites have no series of their own: there may be thousands. */
struct metric_group {
	struct group_key {
		const struct family *family;
		const char *library;
		enum verdict_level level;
	} key;
	uint64_t blocks, bytes, leaked, sites;
	uint64_t alloc_blocks, alloc_bytes, freed_blocks, freed_bytes;
	UT_hash_handle hh;
};

static struct metric_group *take(struct metric_group **table,
				 const struct group_key *key)
{
	struct metric_group *group;

	HASH_FIND(hh, *table, key, sizeof(*key), group);
	if (group)
		return group;
	group = xcalloc(1, sizeof(*group));
	memcpy(&group->key, key, sizeof(*key));
	HASH_ADD(hh, *table, key, sizeof(*key), group);
	return group;
}

static void add_site(struct metric_group **held, struct metric_group **acquired,
		     const struct heap_export *export, const struct site *site)
{
	const struct verdict verdict =
		verdict_of(export->process->heap, site, export->survey);
	struct group_key key;
	struct metric_group *group;

	memset(&key, 0, sizeof(key)); /* it is compared as bytes */
	key.family = site->function->family;
	key.library = site->library;
	/* Counters may not go down: a verdict would make them. */
	group = take(acquired, &key);
	group->alloc_blocks += site->alloc_blocks;
	group->alloc_bytes += site->alloc_bytes;
	group->freed_blocks += site->freed_blocks;
	group->freed_bytes += site->freed_bytes;
	key.level = verdict.level;
	group = take(held, &key);
	group->sites += site->blocks > 0;
	group->blocks += site->blocks;
	group->bytes += site->bytes;
	group->leaked += verdict.leaked_bytes;
}

static void add_group(struct metrics *metrics, enum metric metric,
		      const struct heap_export *export,
		      const struct metric_group *group, bool judged,
		      uint64_t number)
{
	struct strbuf *out = begin(metrics, metric, export);
	const char *library = group->key.library;

	strbuf_putc(out, ',');
	add_label(out, "family", group->key.family->name);
	strbuf_putc(out, ',');
	add_label(out, "library",
		  library && *library ? file_base_name(library) : "");
	if (judged) {
		strbuf_putc(out, ',');
		add_label(out, "verdict", verdict_name(group->key.level));
	}
	strbuf_printf(out, "} %" PRIu64 "\n", number);
}

/* Libraries of one name in two places would be one series twice. */
static void merge(struct metric_group *into, const struct metric_group *group)
{
	into->blocks += group->blocks;
	into->bytes += group->bytes;
	into->leaked += group->leaked;
	into->sites += group->sites;
	into->alloc_blocks += group->alloc_blocks;
	into->alloc_bytes += group->alloc_bytes;
	into->freed_blocks += group->freed_blocks;
	into->freed_bytes += group->freed_bytes;
}

static bool are_alike(const struct metric_group *a,
		      const struct metric_group *b)
{
	const char *x = a->key.library ? file_base_name(a->key.library) : "";
	const char *y = b->key.library ? file_base_name(b->key.library) : "";

	return a->key.family == b->key.family && a->key.level == b->key.level &&
	       !strcmp(x, y);
}

static void unite(struct metric_group **table)
{
	struct metric_group *group, *next, *other;

	HASH_ITER(hh, *table, group, next) {
		for (other = *table; other != group; other = other->hh.next)
			if (are_alike(other, group))
				break;
		if (other == group)
			continue;
		merge(other, group);
		HASH_DEL(*table, group);
		free(group);
	}
}

static void finish(struct metric_group *table)
{
	struct metric_group *group, *next;

	HASH_ITER(hh, table, group, next) {
		HASH_DEL(table, group);
		free(group);
	}
}

static void add_held(struct metrics *metrics, const struct heap_export *export,
		     const struct metric_group *group)
{
	if (group->key.family->has_size) {
		add_group(metrics, HELD_BYTES, export, group, true,
			  group->bytes);
		add_group(metrics, LEAKED_BYTES, export, group, true,
			  group->leaked);
	}
	add_group(metrics, HELD_BLOCKS, export, group, true, group->blocks);
	add_group(metrics, SITES, export, group, true, group->sites);
}

static void add_acquired(struct metrics *metrics,
			 const struct heap_export *export,
			 const struct metric_group *group)
{
	if (group->key.family->has_size) {
		add_group(metrics, ACQUIRED_BYTES, export, group, false,
			  group->alloc_bytes);
		add_group(metrics, RELEASED_BYTES, export, group, false,
			  group->freed_bytes);
	}
	add_group(metrics, ACQUIRED_BLOCKS, export, group, false,
		  group->alloc_blocks);
	add_group(metrics, RELEASED_BLOCKS, export, group, false,
		  group->freed_blocks);
}

static void add_sites(struct metrics *metrics, const struct heap_export *export)
{
	const struct heap *heap = export->process->heap;
	struct metric_group *held = NULL, *acquired = NULL;
	const struct metric_group *group;

	for (size_t i = 1; i <= heap_site_count(heap); i++)
		add_site(&held, &acquired, export, heap_site(heap, i));
	unite(&held);
	unite(&acquired);
	for (group = held; group; group = group->hh.next)
		add_held(metrics, export, group);
	for (group = acquired; group; group = group->hh.next)
		add_acquired(metrics, export, group);
	finish(held);
	finish(acquired);
}

/* ---- the whole ---- */

static void add_cost(struct metrics *metrics, const struct heap_export *export)
{
	const struct heap_cost *cost = export->cost;
	const struct thread_cost *most = &cost->cost.threads[0];

	add(metrics, STOPS, export, cost->cost.stops);
	add_real(metrics, STOPPED, export,
		 (double)cost->stopped_ns / NS_PER_SECOND);
	add_real(metrics, SLOWED, export,
		 cost->cost.thread_count ? cost_share(most) : 0);
}

void metrics_add(struct metrics *metrics, const struct heap_export *export)
{
	const struct watched *process = export->process;

	add_sites(metrics, export);
	add(metrics, RESIDENT, export, process->vitals.resident_bytes);
	if (process->vitals.limit_bytes)
		add(metrics, LIMIT, export, process->vitals.limit_bytes);
	add(metrics, CALLS, export, process->calls);
	add(metrics, LOST, export, watched_lost(process));
	add(metrics, UNKEPT, export, heap_unkept(process->heap));
	add(metrics, DOUBLE_FREES, export, heap_double_frees(process->heap));
	add_cost(metrics, export);
	add_real(metrics, WATCHED, export,
		 (double)(export->now - process->start) / NS_PER_SECOND);
}

void metrics_print(const struct metrics *metrics, struct strbuf *out)
{
	for (int i = 0; i < METRICS; i++) {
		const char *name = kinds[i].name;

		strbuf_printf(out, "# TYPE %s %s\n", name,
			      kinds[i].counts ? "counter" : "gauge");
		if (kinds[i].unit)
			strbuf_printf(out, "# UNIT %s %s\n", name,
				      kinds[i].unit);
		strbuf_printf(out, "# HELP %s %s\n", name, kinds[i].help);
		strbuf_puts(out, strbuf_text(&metrics->lines[i]));
	}
	strbuf_puts(out, "# EOF\n");
}
