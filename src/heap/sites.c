/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/sites.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define FIRST_ROOM 256

void sites_fini(struct sites *sites)
{
	for (size_t i = 0; i < sites->count; i++) {
		struct site *site = sites->all[i];

		log_histogram_fini(&site->lifetimes);
		log_histogram_fini(&site->times);
		log_histogram_fini(&site->sizes);
		history_fini(&site->history);
		timeline_cells_fini(&site->times_of_blocks);
		free(site);
	}
	free(sites->all);
	free(sites->numbers);
	*sites = (struct sites){ 0 };
}

static uint32_t hash_of(stack_id stack, const struct family_function *function,
			const char *library)
{
	uint64_t hash = stack * 0x9e3779b97f4a7c15u;

	hash ^= (uintptr_t)function * 0xbf58476d1ce4e5b9u;
	hash ^= (uintptr_t)library * 0x94d049bb133111ebu;
	return (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u >> 32;
}

/* The place of the site's number, or the free one where it belongs. */
static uint32_t *place_of(const struct sites *sites, stack_id stack,
			  const struct family_function *function,
			  const char *library)
{
	uint32_t at = hash_of(stack, function, library);

	for (;; at++) {
		uint32_t *place =
			&sites->numbers[at & (sites->numbers_room - 1)];
		const struct site *site;

		if (!*place)
			return place;
		site = sites->all[*place - 1];
		if (site->stack == stack && site->function == function &&
		    site->library == library)
			return place;
	}
}

struct site *sites_find(const struct sites *sites, stack_id stack,
			const struct family_function *function,
			const char *library)
{
	uint32_t number;

	if (!sites->numbers_room)
		return NULL;
	number = *place_of(sites, stack, function, library);
	return number ? sites->all[number - 1] : NULL;
}

static void grow(struct sites *sites)
{
	free(sites->numbers);
	sites->numbers_room = sites->numbers_room ? sites->numbers_room * 2 :
						    FIRST_ROOM;
	sites->numbers = xcalloc(sites->numbers_room, sizeof(*sites->numbers));
	for (size_t i = 0; i < sites->count; i++) {
		const struct site *site = sites->all[i];

		*place_of(sites, site->stack, site->function, site->library) =
			site->number;
	}
}

struct site *sites_add(struct sites *sites, stack_id stack,
		       const struct family_function *function,
		       const char *library)
{
	struct site *site = xcalloc(1, sizeof(*site));

	if (sites->count >= sites->numbers_room / 2)
		grow(sites);
	sites->all = xgrow(sites->all, sites->count, &sites->room,
			   sizeof(*sites->all));
	sites->all[sites->count++] = site;
	site->number = sites->count;
	site->stack = stack;
	site->function = function;
	site->library = library;
	*place_of(sites, stack, function, library) = site->number;
	return site;
}

static size_t site_bytes(const struct site *site)
{
	return sizeof(*site) + log_histogram_bytes(&site->lifetimes) +
	       log_histogram_bytes(&site->times) +
	       log_histogram_bytes(&site->sizes) +
	       history_bytes(&site->history) +
	       timeline_cells_bytes(&site->times_of_blocks);
}

size_t sites_bytes(const struct sites *sites)
{
	size_t bytes = sites->numbers_room * sizeof(*sites->numbers) +
		       sites->room * sizeof(*sites->all);

	for (size_t i = 0; i < sites->count; i++)
		bytes += site_bytes(sites->all[i]);
	return bytes;
}
