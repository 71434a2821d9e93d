/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/idset.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define FIRST_ROOM 1024

void idset_fini(struct idset *set)
{
	free(set->slots);
	*set = (struct idset){ 0 };
}

uint32_t idset_find(const struct idset *set, const struct idset_ops *ops,
		    const void *owner, const void *key, uint64_t hash)
{
	size_t mask = set->room - 1, i;

	if (!set->room)
		return 0;
	for (i = hash & mask; set->slots[i]; i = (i + 1) & mask)
		if (ops->equal(owner, set->slots[i], key))
			return set->slots[i];
	return 0;
}

static void put(uint32_t *slots, size_t mask, uint32_t id, uint64_t hash)
{
	size_t i = hash & mask;

	while (slots[i])
		i = (i + 1) & mask;
	slots[i] = id;
}

static void grow(struct idset *set, const struct idset_ops *ops,
		 const void *owner)
{
	size_t room = set->room ? set->room * 2 : FIRST_ROOM, i;
	uint32_t *slots = xcalloc(room, sizeof(*slots));

	for (i = 0; i < set->room; i++)
		if (set->slots[i])
			put(slots, room - 1, set->slots[i],
			    ops->hash(owner, set->slots[i]));
	free(set->slots);
	set->slots = slots;
	set->room = room;
}

void idset_add(struct idset *set, const struct idset_ops *ops,
	       const void *owner, uint32_t id, uint64_t hash)
{
	if (set->count >= set->room / 4 * 3)
		grow(set, ops, owner);
	put(set->slots, set->room - 1, id, hash);
	set->count++;
}
