/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/incidents.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"

/* What makes two incidents the same. */
struct incident_pair {
	enum incident_kind kind;
	stack_id first, second;
	const struct family_function *first_function, *second_function;
	const char *first_library, *second_library;
};

struct incident_entry {
	struct incident_pair pair;
	struct incident incident;
	UT_hash_handle hh;
};

void incidents_fini(struct incidents *incidents)
{
	HASH_CLEAR(hh, incidents->by_pair);
	for (int kind = 0; kind < INCIDENT_KINDS; kind++) {
		for (size_t i = 0; i < incidents->count[kind]; i++)
			free(incidents->list[kind][i]);
		free(incidents->list[kind]);
	}
	*incidents = (struct incidents){ 0 };
}

static struct incident_entry *append(struct incidents *incidents,
				     const struct incident_pair *pair,
				     const struct incident *incident)
{
	struct incident_entry *entry = xcalloc(1, sizeof(*entry));
	enum incident_kind kind = incident->kind;

	memcpy(&entry->pair, pair, sizeof(*pair));
	entry->incident = *incident;
	entry->incident.count = 0;
	entry->incident.bytes = 0;
	HASH_ADD(hh, incidents->by_pair, pair, sizeof(*pair), entry);
	incidents->list[kind] =
		xgrow(incidents->list[kind], incidents->count[kind],
		      &incidents->room[kind], sizeof(*incidents->list[kind]));
	incidents->list[kind][incidents->count[kind]++] = entry;
	return entry;
}

static struct incident_entry *find(struct incidents *incidents,
				   const struct incident_pair *pair)
{
	const unsigned hash = hash_key(pair, sizeof(*pair));
	struct incident_entry **recent =
		&incidents->recent[hash % INCIDENTS_RECENT];

	if (!*recent || memcmp(&(*recent)->pair, pair, sizeof(*pair)))
		HASH_FIND_BYHASHVALUE(hh, incidents->by_pair, pair,
				      sizeof(*pair), hash, *recent);
	return *recent;
}

struct incident *incidents_add(struct incidents *incidents,
			       const struct incident *incident)
{
	enum incident_kind kind = incident->kind;
	struct incident_entry *entry;
	struct incident_pair pair;

	/* Bytes between the members are compared, too. */
	memset(&pair, 0, sizeof(pair));
	pair.kind = kind;
	pair.first = incident->first;
	pair.second = incident->second;
	pair.first_function = incident->first_function;
	pair.second_function = incident->second_function;
	pair.first_library = incident->first_library;
	pair.second_library = incident->second_library;
	entry = find(incidents, &pair);
	if (!entry && incidents->count[kind] >= incidents->limit) {
		incidents->dropped[kind]++;
		return NULL;
	}
	if (!entry)
		entry = append(incidents, &pair, incident);
	entry->incident.count++;
	entry->incident.bytes += incident->bytes;
	entry->incident.last_time = incident->first_time;
	entry->incident.handle = incident->handle;
	entry->incident.size = incident->size;
	return &entry->incident;
}

static struct incident_entry *entry_of(struct incident *incident)
{
	return (struct incident_entry *)((char *)incident -
					 offsetof(struct incident_entry,
						  incident));
}

static void forget(struct incidents *incidents, struct incident_entry *entry)
{
	enum incident_kind kind = entry->incident.kind;
	struct incident_entry **list = incidents->list[kind];
	size_t i = 0;

	while (list[i] != entry)
		i++;
	memmove(list + i, list + i + 1,
		(--incidents->count[kind] - i) * sizeof(*list));
	HASH_DEL(incidents->by_pair, entry);
	memset(incidents->recent, 0, sizeof(incidents->recent));
	free(entry);
}

void incidents_withdraw(struct incidents *incidents, struct incident *incident,
			uint64_t count)
{
	incident->count -= count;
	if (!incident->count)
		forget(incidents, entry_of(incident));
}

const struct incident *incidents_at(const struct incidents *incidents,
				    enum incident_kind kind, size_t index)
{
	return &incidents->list[kind][index]->incident;
}

size_t incidents_bytes(const struct incidents *incidents)
{
	size_t entries = 0;

	for (int kind = 0; kind < INCIDENT_KINDS; kind++)
		entries += incidents->count[kind];
	return entries * sizeof(struct incident_entry);
}
