/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/screen/gather_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "report/format/names.h"

/* FNV-1a: keys are the same in every picture, and no row's is 0. */
#define FNV_BEGIN 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

static uint64_t key_of_text(enum live_by by, const char *text)
{
	uint64_t key = (FNV_BEGIN ^ by) * FNV_PRIME;

	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * FNV_PRIME;
	return key | 1;
}

static uint64_t key_of_site(const struct watched *process,
			    const struct site *site)
{
	return (uint64_t)process->pid << 32 | site->number;
}

static const char *library_of(const struct site *site)
{
	return site->library && *site->library ? file_base_name(site->library) :
						 "?";
}

static const char *text_of(enum live_by by, const struct site *site)
{
	return by == LIVE_BY_LIBRARY ? library_of(site) :
				       site->function->family->name;
}

bool tally_has(enum live_by by, uint64_t key, const struct watched *process,
	       const struct site *site)
{
	if (by == LIVE_BY_SITE)
		return key == key_of_site(process, site);
	return by != LIVE_BY_THREAD &&
	       key == key_of_text(by, text_of(by, site));
}

static struct tally *take(struct tallies *tallies, uint64_t key,
			  const char *name)
{
	struct tally *tally;

	HASH_FIND(hh, tallies->table, &key, sizeof(key), tally);
	if (tally)
		return tally;
	tally = xcalloc(1, sizeof(*tally));
	tally->row.key = key;
	if (name) {
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };

		names_escape(&text, name);
		gather_copy(tally->row.name, sizeof(tally->row.name), &text);
	}
	HASH_ADD(hh, tallies->table, row.key, sizeof(key), tally);
	return tally;
}

static struct tally *append(struct tallies *tallies, uint64_t key)
{
	struct tally *tally;

	tallies->list = xgrow(tallies->list, tallies->count, &tallies->room,
			      sizeof(*tallies->list));
	tally = &tallies->list[tallies->count++];
	*tally = (struct tally){ .row.key = key };
	return tally;
}

static void add_age(struct tally *tally, uint64_t birth, uint64_t now)
{
	uint64_t age = birth && now > birth ? now - birth : 0;

	if (age > tally->row.oldest)
		tally->row.oldest = age;
}

static void judge(struct tally *tally, const struct judged *judged,
		  const struct site *site, uint64_t now)
{
	const struct verdict *verdict;

	if (!judged || site->number > judged->count || !site->blocks)
		return;
	verdict = verdicts_site(judged->verdicts, site);
	add_age(tally, judged->births[site->number - 1], now);
	tally->row.has_level = true;
	if (verdict->level > tally->row.level)
		tally->row.level = verdict->level;
}

static void add_site(struct tally *tally, const struct site *site)
{
	bool has_size = site->function->family->has_size;

	tally->row.bytes += site->bytes * has_size;
	tally->row.blocks += site->blocks;
	tally->row.has_size |= has_size;
	tally->held += has_size ? site->bytes : site->blocks;
	tally->acquired += site->alloc_bytes * has_size;
}

/* What holds nothing and did nothing since is no row of its own. */
static bool is_still(const struct gather *gather, uint64_t key,
		     const struct site *site)
{
	const struct memo *memo;

	if (site->blocks)
		return false;
	memo = memo_find(gather, key);
	return memo && !memo->marked && memo->rate <= 0 &&
	       memo->acquired == site->alloc_bytes;
}

static void add_sites(const struct gather *gather, enum live_by by,
		      const struct watched *process, struct tallies *tallies)
{
	const struct judged *judged = judged_find(gather, process);
	uint64_t now = heap_time(process->heap, clock_now());

	for (size_t n = 1; n <= heap_site_count(process->heap); n++) {
		const struct site *site = heap_site(process->heap, n);
		struct tally *tally;

		if (by == LIVE_BY_SITE) {
			uint64_t key = key_of_site(process, site);

			if (is_still(gather, key, site))
				continue;
			tally = append(tallies, key);
			tally->process = process;
			tally->site = site;
		} else {
			const char *text = text_of(by, site);

			tally = take(tallies, key_of_text(by, text), text);
		}
		add_site(tally, site);
		judge(tally, judged, site, now);
	}
}

static void name_thread(const struct watched *process, pid_t tid,
			struct tally *tally)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	if (tid) {
		strbuf_printf(&name, "%d ", (int)tid);
		names_escape(&name, heap_thread_name(process->heap, tid));
	} else {
		strbuf_puts(&name, "(others)");
	}
	gather_copy(tally->row.name, sizeof(tally->row.name), &name);
}

static void add_threads(const struct watched *process, struct tallies *tallies)
{
	uint64_t now = heap_time(process->heap, clock_now());
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(process->heap, &walk, &block)) {
		uint64_t key = (uint64_t)LIVE_BY_THREAD << 60 |
			       (uint64_t)process->pid << 32 | block.tid |
			       1ull << 59;
		bool has_size = block.site->function->family->has_size;
		uint64_t held = block.weight.count * block.size;
		struct tally *tally = take(tallies, key, NULL);

		if (!tally->row.name[0])
			name_thread(process, block.tid, tally);
		tally->row.blocks += block.weight.count;
		tally->row.bytes += held * has_size;
		tally->row.has_size |= has_size;
		tally->held += has_size ? held : 1;
		tally->row.rate = -1;
		add_age(tally, block.birth, now);
	}
}

struct tallies tallies_of(const struct gather *gather, enum live_by by)
{
	const struct watch *watch = gather->options.watch;
	struct tallies tallies = { 0 };
	const struct watched *process;

	for (process = watch_next(watch, NULL); process;
	     process = watch_next(watch, process)) {
		if (by == LIVE_BY_THREAD)
			add_threads(process, &tallies);
		else
			add_sites(gather, by, process, &tallies);
	}
	return tallies;
}

/* The table's come to the list, for who sorts them. */
void tallies_fini(struct tallies *tallies)
{
	struct tally *tally, *next;

	HASH_ITER(hh, tallies->table, tally, next) {
		HASH_DEL(tallies->table, tally);
		free(tally);
	}
	free(tallies->list);
}
