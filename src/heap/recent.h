/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RECENT_H
#define CALLTRAP_RECENT_H

#include "heap/family.h"
#include "stack/stacks.h"

/*
 * Handles that were released lately, and where. A release of one of them is a
 * double free; one of a handle that is not here may be of a block from before
 * our time. Of handles that share a place the last one stays.
 */
#define RECENT_PLACES 16384

struct recent_release {
	uint64_t handle;
	const struct family_function *function;
	const char *library;
	stack_id stack;
	bool known; /* it had been acquired, as far as we know */
	uint64_t time;
};

struct recent {
	struct recent_release *places; /* NULL until needed */
	/* Of what is in each of them, all that nearly every act asks for; 0: nothing
	   is. The places themselves are six times as large. */
	uint64_t *keys;
};

size_t recent_bytes(const struct recent *recent);

void recent_fini(struct recent *recent);

/*
 * Where it is to be filled in; NULL: the first one of the same handle stays. There is
 * one for each release, so it isn't copied.
 */
struct recent_release *recent_add(struct recent *recent,
				  const struct family *family, uint64_t handle);

/* It will be looked for soon. */
void recent_expect(const struct recent *recent, const struct family *family,
		   uint64_t handle);

/* The handle is in use again. Returns whether its release was known. */
bool recent_forget(struct recent *recent, const struct family *family,
		   uint64_t handle);
const struct recent_release *recent_find(const struct recent *recent,
					 const struct family *family,
					 uint64_t handle);

#endif
