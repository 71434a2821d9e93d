/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/lost_traps.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "tracee/patch.h"

/* All traps that should be in the code. Memory outside of modules may hold
   something else by now. */
static struct trap **planted_traps(struct space *space, size_t *count_ret)
{
	struct trap **all, *trap, *next;
	size_t n = 0;

	all = xcalloc(HASH_COUNT(space->traps) + 1, sizeof(struct trap *));
	HASH_ITER(hh, space->traps, trap, next)
		if (trap->planted && !patch_stands(trap) &&
		    module_find(space, trap->address))
			all[n++] = trap;
	*count_ret = n;
	return all;
}

/* The guardian still has its note. */
static int put_back(struct space *space, const struct trap *trap)
{
	int err = procmem_write_code(&space->memory, trap->address,
				     &space->arch->trap,
				     space->arch->trap_size);

	diag_debug(DIAG_TRAP, "trap %#" PRIx64 " was gone, put back: %d",
		   trap->address, err);
	return err;
}

/* One that is never hit has missed nothing, as far as one knows. */
static uint64_t missed_since(const struct trap *trap, uint64_t last)
{
	return trap->hit && trap->seen < last ? trap->seen : last;
}

static void restore(struct space *space, struct trap *trap, uint64_t last,
		    struct lost_traps *lost)
{
	uint64_t since = missed_since(trap, last);

	if (!lost->count++ || since < lost->since)
		lost->since = since;
	if (put_back(space, trap))
		lost->failed++;
}

struct lost_traps lost_traps_restore(struct space *space, uint64_t last)
{
	struct lost_traps lost = { 0 };
	size_t count;
	struct trap **traps CLEANUP(xfree_cleanup) =
		planted_traps(space, &count);
	taddr_t *addresses CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*addresses));
	uint32_t *words CLEANUP(xfree_cleanup) =
		xcalloc(count + 1, sizeof(*words));
	bool *known CLEANUP(xfree_cleanup) = xcalloc(count + 1, sizeof(*known));

	/* Of a child that was just made, not even the machine is known. */
	if (!count)
		return lost;
	for (size_t i = 0; i < count; i++)
		addresses[i] = traps[i]->address;
	procmem_read_words(&space->memory, addresses, count,
			   space->arch->trap_size, words, known);
	/* What is neither has been changed by the program itself. */
	for (size_t i = 0; i < count; i++)
		if (known[i] && words[i] == traps[i]->original)
			restore(space, traps[i], last, &lost);
	return lost;
}
