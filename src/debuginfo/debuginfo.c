/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/debuginfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "debuginfo/private.h"

/*
 * How long an answer is waited for: by who wants to know it, and by a task
 * that stands still meanwhile, and others with it.
 */
#define LIMIT    (12 * NS_PER_SECOND)
#define PATIENCE NS_PER_SECOND

/* … and files from servers, all together, when nobody stands still. */
#define FETCH_LIMIT (20 * NS_PER_SECOND)

/* So many images are remembered. */
#define RECORDS_MAX 512

struct debuginfo *debuginfo_new(void)
{
	struct debuginfo *debuginfo = xcalloc(1, sizeof(*debuginfo));

	debuginfo->fetcher = fetcher_new();
	return debuginfo;
}

static void free_record(struct record *record)
{
	struct known_places *places, *next_places;
	struct known_function *function, *next_function;
	struct known_tails *tails, *next_tails;

	HASH_ITER(hh, record->places, places, next_places) {
		HASH_DEL(record->places, places);
		free(places);
	}
	HASH_ITER(hh, record->functions, function, next_function) {
		HASH_DEL(record->functions, function);
		free(function);
	}
	HASH_ITER(hh, record->tails, tails, next_tails) {
		HASH_DEL(record->tails, tails);
		free(tails);
	}
	image_put(record->image);
	free(record);
}

void debuginfo_free(struct debuginfo *debuginfo)
{
	struct record *record, *next;

	if (!debuginfo)
		return;
	reader_stop(debuginfo->reader);
	fetcher_free(debuginfo->fetcher);
	HASH_ITER(hh, debuginfo->records, record, next) {
		HASH_DEL(debuginfo->records, record);
		free_record(record);
	}
	answers_fini(&debuginfo->answers);
	free(debuginfo);
}

/* What they are made of is lost, with the process, before long. */
void debuginfo_leave_reader(struct debuginfo *debuginfo)
{
	debuginfo->reader = NULL;
	debuginfo->fetcher = NULL;
	debuginfo->pending.record = NULL;
}

void debuginfo_wait_for_fetched(struct debuginfo *debuginfo,
				const volatile sig_atomic_t *interrupts)
{
	debuginfo->fetch_until = interrupts ? clock_now() + FETCH_LIMIT : 0;
	debuginfo->interrupts = interrupts;
	debuginfo->interrupted = interrupts ? *interrupts : 0;
}

struct debuginfo_losses debuginfo_losses(const struct debuginfo *debuginfo)
{
	return debuginfo->losses;
}

/* ---- what is known ---- */

static void drop_oldest(struct debuginfo *debuginfo)
{
	struct record *record, *next;

	HASH_ITER(hh, debuginfo->records, record, next) {
		if (HASH_COUNT(debuginfo->records) < RECORDS_MAX)
			return;
		if (record == debuginfo->pending.record)
			continue;
		HASH_DEL(debuginfo->records, record);
		free_record(record);
	}
}

/* The image is kept, so that no other one can have its address. */
static struct record *record_of(struct debuginfo *debuginfo,
				struct image *image)
{
	struct record *record;

	HASH_FIND_PTR(debuginfo->records, &image, record);
	if (record)
		return record;
	drop_oldest(debuginfo);
	record = xcalloc(1, sizeof(*record));
	record->image = image_get(image);
	HASH_ADD_PTR(debuginfo->records, image, record);
	return record;
}

static const struct known_places *places_at(const struct record *record,
					    uint64_t address)
{
	struct known_places *known;

	HASH_FIND(hh, record->places, &address, sizeof(address), known);
	return known;
}

/* As debuginfo_places(), of which all of it is an answer. */
static int find_places(struct debuginfo *debuginfo, struct image *image,
		       uint64_t address, const struct known_places **ret)
{
	struct record *record = record_of(debuginfo, image);
	const struct known_places *known;
	int err = 0;

	debuginfo_take(debuginfo);
	known = places_at(record, address);
	if (!known && record->state == RECORD_GOOD)
		err = debuginfo_ask(debuginfo, record, WIRE_PLACES, &address, 1,
				    clock_now() + LIMIT);
	if (!known)
		known = places_at(record, address);
	if (!known)
		return err == -ENOENT ? 0 : err;
	*ret = known;
	return known->count;
}

int debuginfo_places(struct debuginfo *debuginfo, struct image *image,
		     uint64_t address, const struct debug_place **ret)
{
	const struct known_places *known;
	int count = find_places(debuginfo, image, address, &known);

	if (count > 0)
		*ret = known->places;
	return count;
}

int debuginfo_caller(struct debuginfo *debuginfo, struct image *image,
		     uint64_t address, const struct debug_caller **ret)
{
	const struct known_places *known;
	int count = find_places(debuginfo, image, address, &known);

	if (count > 0)
		*ret = &known->caller;
	return count;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Those that aren't known yet, sorted, each once. */
static size_t choose(const struct record *record, const uint64_t *addresses,
		     size_t count, uint64_t *ret)
{
	size_t chosen = 0, i, kept = 0;

	for (i = 0; i < count; i++)
		if (!places_at(record, addresses[i]))
			ret[chosen++] = addresses[i];
	qsort(ret, chosen, sizeof(*ret), compare_addresses);
	for (i = 0; i < chosen; i++)
		if (!kept || ret[kept - 1] != ret[i])
			ret[kept++] = ret[i];
	return kept;
}

/* patience: for each answer. False when some haven't come. */
static bool ask_places(struct debuginfo *debuginfo, struct image *image,
		       const uint64_t *addresses, size_t count,
		       uint64_t patience)
{
	struct record *record = record_of(debuginfo, image);
	uint64_t *wanted CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*wanted));
	size_t left, i = 0;

	debuginfo_take(debuginfo);
	left = choose(record, addresses, count, wanted);
	while (i < left && record->state == RECORD_GOOD) {
		unsigned n = left - i < WIRE_ADDRESSES_MAX ? left - i :
							     WIRE_ADDRESSES_MAX;

		if (debuginfo_ask(debuginfo, record, WIRE_PLACES, wanted + i, n,
				  patience ? clock_now() + patience : 0))
			return !debuginfo->pending.record;
		i += n;
	}
	return true;
}

void debuginfo_prepare_places(struct debuginfo *debuginfo, struct image *image,
			      const uint64_t *addresses, size_t count)
{
	ask_places(debuginfo, image, addresses, count, LIMIT);
}

bool debuginfo_prefetch_places(struct debuginfo *debuginfo, struct image *image,
			       const uint64_t *addresses, size_t count)
{
	return ask_places(debuginfo, image, addresses, count, 0);
}

static const struct known_tails *tails_at(const struct record *record,
					  uint64_t address)
{
	struct known_tails *known;

	HASH_FIND(hh, record->tails, &address, sizeof(address), known);
	return known;
}

int debuginfo_tails(struct debuginfo *debuginfo, struct image *image,
		    uint64_t address, bool wait, const struct debug_tails **ret)
{
	struct record *record = record_of(debuginfo, image);
	const struct known_tails *known;
	int err = -ENOENT;

	debuginfo_take(debuginfo);
	known = tails_at(record, address);
	if (!known && record->state == RECORD_GOOD)
		err = debuginfo_ask(debuginfo, record, WIRE_TAILS, &address, 1,
				    wait ? clock_now() + LIMIT : 0);
	if (!known)
		known = tails_at(record, address);
	if (!known)
		return err ? err : -ENOENT;
	*ret = &known->tails;
	return 0;
}

bool debuginfo_is_reading(struct debuginfo *debuginfo)
{
	debuginfo_take(debuginfo);
	return debuginfo->pending.record;
}

static const struct known_function *function_at(const struct record *record,
						uint64_t address)
{
	struct known_function *known;

	HASH_FIND(hh, record->functions, &address, sizeof(address), known);
	return known;
}

int debuginfo_function(struct debuginfo *debuginfo, struct image *image,
		       uint64_t address, const struct debug_function **ret)
{
	struct record *record = record_of(debuginfo, image);
	const struct known_function *known;
	int err = -ENOENT;

	debuginfo_take(debuginfo);
	known = function_at(record, address);
	if (!known && record->state == RECORD_GOOD)
		err = debuginfo_ask(debuginfo, record, WIRE_FUNCTION, &address,
				    1, clock_now() + PATIENCE);
	if (!known)
		known = function_at(record, address);
	if (!known)
		return err ? err : -ENOENT;
	if (!known->function)
		return -ENOENT;
	*ret = known->function;
	return 0;
}

int debuginfo_way(struct debuginfo *debuginfo, struct image *image,
		  uint64_t variable, const uint64_t *offsets, unsigned count,
		  struct debug_step ret[DEBUG_STEPS_MAX])
{
	struct record *record = record_of(debuginfo, image);
	struct told_way *way = &debuginfo->way;
	uint64_t question[1 + DEBUG_STEPS_MAX] = { variable };
	int err = -ENOENT;

	if (count > DEBUG_STEPS_MAX)
		count = DEBUG_STEPS_MAX;
	memcpy(question + 1, offsets, count * sizeof(*offsets));
	way->count = 0;
	if (record->state == RECORD_GOOD)
		err = debuginfo_ask(debuginfo, record, WIRE_WAY, question,
				    1 + count, clock_now() + LIMIT);
	if (err)
		return err;
	memcpy(ret, way->steps, way->count * sizeof(*ret));
	return way->count < count ? (int)way->count : (int)count;
}
