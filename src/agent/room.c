/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/room.h"

#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

/* Neighbours stay apart: some grow downwards, and equal ones are merged. */
#define DISTANCE (4u << 20)

/* Below the kernel's own, and the stack, which needs what is below it. */
static bool may_be_above(const struct procfs_mapping *mapping)
{
	return mapping->path[0] != '[';
}

taddr_t room_find(pid_t pid, uint64_t size, size_t *mappings_ret)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(pid);
	taddr_t end = 0, found = 0;

	*mappings_ret = 0;
	while (maps && procfs_maps_next(maps, mapping)) {
		const uint64_t gap = mapping->start - end;

		if (!end || gap < size + 2 * DISTANCE)
			; /* too narrow */
		else if (may_be_above(mapping))
			found = mapping->start - DISTANCE - size;
		else if (!found)
			found = end + (gap - size) / 2 / DISTANCE * DISTANCE;
		end = mapping->end;
		++*mappings_ret;
	}
	if (maps)
		fclose(maps);
	return found;
}

bool room_is_taken(pid_t pid, taddr_t address, uint64_t size)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));

	return procfs_find_mapping(pid, address, mapping) &&
	       mapping->start == address && mapping->end == address + size &&
	       mapping->readable && mapping->executable && !mapping->writable &&
	       !mapping->shared && !mapping->path[0];
}
