/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/recent.h"

#include <stdlib.h>

#include "base/xalloc.h"

void recent_fini(struct recent *recent)
{
	free(recent->places);
	free(recent->keys);
	*recent = (struct recent){ 0 };
}

size_t recent_bytes(const struct recent *recent)
{
	return recent->places ? RECENT_PLACES * (sizeof(*recent->places) +
						 sizeof(*recent->keys)) :
				0;
}

/* Handles that aren't like addresses share a key. */
#define ODD_KEY 1

/* Never 0; all others have their own. */
static uint64_t key_of(const struct family *family, uint64_t handle)
{
	if (handle >> 56 || family->index >= UINT8_MAX)
		return ODD_KEY;
	return handle | ((uint64_t)family->index + 1) << 56;
}

static size_t place_of(const struct family *family, uint64_t handle)
{
	uint64_t hash =
		(handle ^ (uint64_t)family->index << 56) * 0x9e3779b97f4a7c15u;

	return (hash >> 32) % RECENT_PLACES;
}

static bool is_at(const struct recent *recent, size_t place,
		  const struct family *family, uint64_t handle)
{
	const uint64_t key = key_of(family, handle);
	const struct recent_release *release;

	if (recent->keys[place] != key)
		return false;
	release = &recent->places[place];
	return key != ODD_KEY || (release->function->family == family &&
				  release->handle == handle);
}

static void make_places(struct recent *recent)
{
	recent->places = xcalloc(RECENT_PLACES, sizeof(*recent->places));
	recent->keys = xcalloc(RECENT_PLACES, sizeof(*recent->keys));
}

struct recent_release *recent_add(struct recent *recent,
				  const struct family *family, uint64_t handle)
{
	const size_t place = place_of(family, handle);

	if (!recent->places)
		make_places(recent);
	if (is_at(recent, place, family, handle))
		return NULL;
	recent->keys[place] = key_of(family, handle);
	return &recent->places[place];
}

void recent_expect(const struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	const size_t place = place_of(family, handle);

	if (!recent->places)
		return;
	__builtin_prefetch(&recent->places[place], 1);
	__builtin_prefetch(&recent->keys[place], 1);
}

bool recent_forget(struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	const size_t place = place_of(family, handle);

	if (!recent->places || !is_at(recent, place, family, handle))
		return false;
	recent->keys[place] = 0;
	return true;
}

const struct recent_release *recent_find(const struct recent *recent,
					 const struct family *family,
					 uint64_t handle)
{
	const size_t place = place_of(family, handle);

	return recent->places && is_at(recent, place, family, handle) ?
		       &recent->places[place] :
		       NULL;
}
