/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_FETCH_H
#define CALLTRAP_DEBUGINFO_FETCH_H

#include "image/image.h"

/*
 * Debug files from the servers that DEBUGINFOD_URLS names, by build-id. They
 * are fetched with libdebuginfod by a child process, one after the other,
 * while calltrap goes on with its work; and kept where that library keeps
 * them, where they are found again without a child.
 */
struct fetcher;

/* NULL when DEBUGINFOD_URLS isn't set, or empty. */
struct fetcher *fetcher_new(void);

/* What is being fetched is given up. NULL is fine. */
void fetcher_free(struct fetcher *fetcher);

/*
 * A descriptor of the file, which is the caller's and may hold anything.
 * -EAGAIN: it has not come until that time (0: there is no waiting), ask again
 * later; -ENOENT: it won't come.
 */
int fetcher_get(struct fetcher *fetcher, const uint8_t *id, size_t size,
		uint64_t until, int *ret) MUST_CHECK;

#endif
