/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CHARGE_H
#define CALLTRAP_CHARGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/types.h"

struct space;
struct vitals;

/*
 * A page of code that is written to becomes the process's own, and counts
 * against its memory cgroup: a process at its limit would be killed for it. So
 * pages are counted where there is a limit, and none is written to when little
 * is left.
 */
struct charged_page {
	taddr_t address;
	UT_hash_handle hh;
};

struct charge {
	struct charged_page *pages; /* written to before */
	bool known;                 /* what follows */
	bool limited;               /* by a cgroup */
	bool refused;               /* ever: a page */
};

struct charge_room {
	uint64_t left;  /* bytes that the cgroup may still take */
	uint64_t spare; /* … of which so many have to stay free */
};

/* Whether so many more pages can be written to; room_ret may be NULL. */
bool charge_has_room(struct space *space, size_t pages,
		     struct charge_room *room_ret);

/*
 * Whether the target's cgroup can take so many bytes more of its own, and so many
 * of ours where we are charged to it as well; and our own can take ours.
 */
bool charge_has_room_for(pid_t target, uint64_t its, uint64_t ours);

/* What has to stay free in a target's cgroup, in bytes, by its vitals. */
uint64_t charge_spare(const struct vitals *target);

/*
 * To be called before code is written: 0, or -ENOMEM when that would take a
 * page that the cgroup may not have.
 */
int charge_page(struct space *space, taddr_t address) MUST_CHECK;

/* How many pages would be the first time written to, by the deferred traps. */
size_t charge_count_deferred(struct space *space);

void charge_free(struct charge *charge);

#endif
