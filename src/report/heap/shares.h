/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAP_SHARES_H
#define CALLTRAP_HEAP_SHARES_H

#include "base/hash.h"
#include "report/heap/export.h"

/* What each thread holds of the sites at which several have acquired. */
struct heap_shares;

struct heap_share_key {
	uint32_t site;
	pid_t tid;
};

struct heap_share {
	struct heap_share_key key;
	uint64_t blocks, bytes; /* of the age that counts */
	struct heap_share *next;
	UT_hash_handle hh;
};

struct heap_shares *
heap_shares_new(const struct heap_export *export) MUST_CHECK;
void heap_shares_free(struct heap_shares *shares);

/* The shares of a site; all of its blocks but those that belong to one of very
   many threads. NULL: none. */
const struct heap_share *heap_shares_of(const struct heap_shares *shares,
					const struct site *site);

#endif
