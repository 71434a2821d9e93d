/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/growth.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "growth/private.h"

struct growth *growth_new(const struct growth_options *options)
{
	struct growth *growth = xcalloc(1, sizeof(*growth));

	growth->options = *options;
	return growth;
}

void growth_free(struct growth *growth)
{
	if (!growth)
		return;
	growth_calls_fini(growth);
	growth_residency_fini(growth);
	growth_view_fini(&growth->first);
	growth_view_fini(&growth->last);
	HASH_CLEAR(hh, growth->by_key);
	for (size_t i = 0; i < growth->count; i++)
		free(growth->sites[i]);
	free(growth->sites);
	ranges_fini(&growth->memory);
	page_table_fini(&growth->pages);
	free(growth);
}

void growth_drain(struct growth *growth)
{
	if (growth->options.drain)
		growth->options.drain(growth->options.context);
	growth_look_again(growth);
}

bool growth_has(const struct growth *growth, enum growth_kind kind)
{
	return growth->options.kinds & GROWTH_BIT(kind);
}

static struct site_entry *add_entry(struct growth *growth,
				    const struct site_key *key)
{
	struct site_entry *entry = xcalloc(1, sizeof(*entry));

	growth->sites = xgrow(growth->sites, growth->count, &growth->room,
			      sizeof(*growth->sites));
	growth->sites[growth->count++] = entry;
	entry->key = *key;
	entry->site.number = growth->count;
	entry->site.kind = key->kind;
	entry->site.function = key->function;
	entry->site.stack = key->stack;
	HASH_ADD(hh, growth->by_key, key, sizeof(entry->key), entry);
	return entry;
}

struct site_entry *growth_entry_of(struct growth *growth, enum growth_kind kind,
				   const struct growth_actor *actor)
{
	struct site_key key = { actor->stack, kind, actor->function };
	struct site_entry *entry;

	HASH_FIND(hh, growth->by_key, &key, sizeof(key), entry);
	if (entry)
		return entry;
	if (growth->count >= SITES_MAX) {
		key.stack = STACK_NONE;
		HASH_FIND(hh, growth->by_key, &key, sizeof(key), entry);
	}
	return entry ? entry : add_entry(growth, &key);
}

struct extent growth_extent(taddr_t begin, uint64_t size)
{
	const uint64_t low = GROWTH_PAGE - 1;
	taddr_t end;

	if (__builtin_add_overflow(begin, size, &end) || end > UINT64_MAX - low)
		end = UINT64_MAX - low;
	return (struct extent){ begin & ~low, (end + low) & ~low };
}

void growth_count(struct growth *growth, struct site_entry *entry,
		  uint64_t time, uint64_t bytes)
{
	struct growth_site *site = &entry->site;
	struct growth_total *total = &growth->totals[site->kind];

	if (!site->calls)
		site->first_time = time;
	site->last_time = time;
	site->calls++;
	site->bytes += bytes;
	total->calls++;
	total->bytes += bytes;
}

void growth_fail(struct growth *growth, enum growth_kind kind,
		 const struct growth_actor *actor)
{
	growth_entry_of(growth, kind, actor)->site.failed++;
	growth->totals[kind].failed++;
}

size_t growth_site_count(const struct growth *growth)
{
	return growth->count;
}

const struct growth_site *growth_site(const struct growth *growth,
				      size_t number)
{
	return number && number <= growth->count ?
		       &growth->sites[number - 1]->site :
		       NULL;
}

struct growth_total growth_total(const struct growth *growth,
				 enum growth_kind kind)
{
	return growth->totals[kind];
}

struct growth_fault_source *growth_fault_source(struct growth *growth)
{
	return &growth->fault_source;
}

uint64_t growth_lost(const struct growth *growth)
{
	return growth->unreadable + growth->unfinished;
}

struct growth_fault_source growth_fault_seen(const struct growth *growth)
{
	return growth->fault_source;
}
