/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * What code does with GOT slots that have no stub. Where it only calls what such a
 * slot holds, nobody notices when that is something else.
 */

/* An image that somebody has made for it has no end of them. */
#define INSTRUCTIONS (1u << 22)

struct slot_uses {
	const struct arch_ops *arch;
	const struct import **imports; /* by slot */
	size_t count;
	struct slot_range range;
	uint32_t left;        /* see there */
	bool *called, *taken; /* by import */
};

struct slot_uses *slot_uses_new(const struct arch_ops *arch,
				const struct import **imports, size_t count,
				const struct landings *landings)
{
	struct slot_uses *uses = xcalloc(1, sizeof(*uses));

	*uses = (struct slot_uses){ .arch = arch,
				    .imports = imports,
				    .count = count,
				    .left = INSTRUCTIONS,
				    .called = xcalloc(count, 1),
				    .taken = xcalloc(count, 1) };
	if (count)
		uses->range = (struct slot_range){ imports[0]->slot,
						   imports[count - 1]->slot + 1,
						   &uses->left, landings_find,
						   landings };
	return uses;
}

static void note(struct slot_uses *uses, const struct slot_use *use)
{
	const struct import **import =
		import_by_slot(uses->imports, uses->count, use->slot);
	size_t i;

	if (!import)
		return;
	i = (size_t)(import - uses->imports);
	uses->called[i] |= use->calls;
	uses->taken[i] |= !use->calls && !use->asks;
}

void slot_uses_search(struct slot_uses *uses, const uint8_t *code, size_t size,
		      size_t end, uint64_t address)
{
	struct slot_use use;
	size_t at = 0;

	if (!uses->count || !uses->arch->next_slot_use)
		return;
	while (uses->arch->next_slot_use(code, size, &at, end, address,
					 &uses->range, &use))
		note(uses, &use);
}

uint64_t *slot_uses_end(struct slot_uses *uses, size_t *count_ret)
{
	uint64_t *slots = xcalloc(uses->count + 1, sizeof(*slots));
	size_t i, count = 0;

	for (i = 0; i < uses->count; i++)
		if (uses->called[i] && !uses->taken[i])
			slots[count++] = uses->imports[i]->slot;
	free(uses->called);
	free(uses->taken);
	free(uses);
	*count_ret = count;
	return slots;
}
