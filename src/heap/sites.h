/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SITES_H
#define CALLTRAP_SITES_H

#include <stdbool.h>

#include "heap/site.h"

/* All sites of a heap, by stack, function and library, and by number. */
struct sites {
	struct site **all; /* all[number - 1] */
	size_t count, room;
	uint32_t *numbers; /* open addressing; 0: free */
	uint32_t numbers_room;
};

void sites_fini(struct sites *sites);

/*
 * The site of that key; NULL if there is none. Libraries are compared by
 * their pointers.
 */
struct site *sites_find(const struct sites *sites, stack_id stack,
			const struct family_function *function,
			const char *library);
struct site *sites_add(struct sites *sites, stack_id stack,
		       const struct family_function *function,
		       const char *library);
size_t sites_bytes(const struct sites *sites);

#endif
