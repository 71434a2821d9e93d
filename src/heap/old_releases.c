/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/old_releases.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

#define PLACES_MAX 16384

/* Bytes between the members are compared, too: set to 0 first. */
struct release_place {
	const struct family_function *function;
	stack_id stack;
};

struct old_release_entry {
	struct release_place place;
	struct old_release release;
	UT_hash_handle hh;
};

void old_releases_fini(struct old_releases *releases)
{
	struct old_release_entry *entry, *next;

	HASH_ITER(hh, releases->by_place, entry, next) {
		HASH_DEL(releases->by_place, entry);
		free(entry);
	}
}

static struct old_release_entry *entry_of(struct old_releases *releases,
					  const struct release_place *place)
{
	struct old_release_entry *entry;

	HASH_FIND(hh, releases->by_place, place, sizeof(*place), entry);
	if (entry || HASH_COUNT(releases->by_place) >= PLACES_MAX)
		return entry;
	entry = xcalloc(1, sizeof(*entry));
	memcpy(&entry->place, place, sizeof(*place));
	entry->release.function = place->function;
	entry->release.stack = place->stack;
	HASH_ADD(hh, releases->by_place, place, sizeof(*place), entry);
	return entry;
}

void old_releases_add(struct old_releases *releases,
		      const struct family_function *function, stack_id stack,
		      uint64_t time)
{
	struct old_release_entry *entry;
	struct release_place place;

	memset(&place, 0, sizeof(place));
	place.function = function;
	place.stack = stack;
	entry = entry_of(releases, &place);
	if (!entry)
		return;
	if (!entry->release.count++)
		entry->release.first_time = time;
	entry->release.last_time = time;
}

size_t old_releases_bytes(const struct old_releases *releases)
{
	return HASH_COUNT(releases->by_place) *
	       sizeof(struct old_release_entry);
}

struct old_release *old_releases_of(const struct old_releases *releases,
				    const struct family *family,
				    size_t *count_ret)
{
	struct old_release *ret =
		xcalloc(HASH_COUNT(releases->by_place) + 1, sizeof(*ret));
	struct old_release_entry *entry, *next;
	size_t n = 0;

	HASH_ITER(hh, releases->by_place, entry, next)
		if (entry->release.function->family == family)
			ret[n++] = entry->release;
	*count_ret = n;
	return ret;
}
