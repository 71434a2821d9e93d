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

static struct recent_release *find(const struct recent *recent,
				   const struct family *family, uint64_t handle)
{
	struct recent_release *place;

	if (!recent->places)
		return NULL;
	place = place_of(recent, family, handle);
	if (!place->function || place->function->family != family ||
	    place->handle != handle)
		return NULL;
	return place;
}

void recent_add(struct recent *recent, const struct recent_release *release)
{
	if (!recent->places)
		recent->places =
			xcalloc(RECENT_PLACES, sizeof(*recent->places));
	*place_of(recent, release->function->family, release->handle) =
		*release;
}

void recent_expect(const struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	if (recent->places)
		__builtin_prefetch(place_of(recent, family, handle));
}

void recent_forget(struct recent *recent, const struct family *family,
		   uint64_t handle)
{
	struct recent_release *place = find(recent, family, handle);

	if (place)
		place->function = NULL;
}

const struct recent_release *recent_find(const struct recent *recent,
					 const struct family *family,
					 uint64_t handle)
{
	return find(recent, family, handle);
}
