/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/recent.h"

#include <stdlib.h>

#include "base/xalloc.h"

void recent_fini(struct recent *recent)
{
	free(recent->places);
	recent->places = NULL;
}

static struct recent_release *place_of(const struct recent *recent,
				       const struct family *family,
				       uint64_t handle)
{
	uint64_t hash =
		(handle ^ (uint64_t)family->index << 56) * 0x9e3779b97f4a7c15u;

	return &recent->places[(hash >> 32) % RECENT_PLACES];
}

static bool is_of(const struct recent_release *place,
		  const struct family *family, uint64_t handle)
{
	return place->function && place->function->family == family &&
	       place->handle == handle;
}

static struct recent_release *find(const struct recent *recent,
				   const struct family *family, uint64_t handle)
{
	struct recent_release *place;

	if (!recent->places)
		return NULL;
	place = place_of(recent, family, handle);
	return is_of(place, family, handle) ? place : NULL;
}

void recent_add(struct recent *recent, const struct recent_release *release)
{
	const struct family *family = release->function->family;
	struct recent_release *place;

	if (!recent->places)
		recent->places =
			xcalloc(RECENT_PLACES, sizeof(*recent->places));
	place = place_of(recent, family, release->handle);
	if (!is_of(place, family, release->handle))
		*place = *release;
}

void recent_expect(const struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	if (recent->places)
		__builtin_prefetch(place_of(recent, family, handle));
}

bool recent_forget(struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	struct recent_release *place = find(recent, family, handle);

	if (place)
		place->function = NULL;
	return place;
}

const struct recent_release *recent_find(const struct recent *recent,
					 const struct family *family,
					 uint64_t handle)
{
	return find(recent, family, handle);
}
