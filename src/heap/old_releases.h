/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OLD_RELEASES_H
#define CALLTRAP_OLD_RELEASES_H

#include "heap/family.h"
#include "stack/stacks.h"

/*
 * Where blocks are given back that were there before watching began. As many
 * of them as are new at a site, all the time: the site's blocks live longer
 * than was watched.
 */
struct old_release {
	const struct family_function *function;
	stack_id stack;
	uint64_t count;
	uint64_t first_time, last_time;
};

struct old_release_entry;

struct old_releases {
	struct old_release_entry *by_place;
};

void old_releases_fini(struct old_releases *releases);

/* One more. What there is no room for is left out. */
void old_releases_add(struct old_releases *releases,
		      const struct family_function *function, stack_id stack,
		      uint64_t time);
size_t old_releases_bytes(const struct old_releases *releases);

/* All of a family, to be freed. */
struct old_release *old_releases_of(const struct old_releases *releases,
				    const struct family *family,
				    size_t *count_ret);

#endif
