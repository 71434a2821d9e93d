/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/room.h"

#include <errno.h>

#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/x86/entry.h"

#define PAGE 4096

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

/* A heap (brk) grows upwards, and gives up where something is in its way. */
#define GROWTH (1ull << 30)

/* The lowest that any system lets a program have, and more. */
#define LOWEST (1ull << 20)

static taddr_t target_between(const struct x86_entry *entry, taddr_t start,
			      taddr_t end)
{
	const taddr_t at = entry->address, reach = (1ull << 31) - DISTANCE;
	const taddr_t most = at + reach;
	const taddr_t least = at > reach ? at - reach : 0;
	const uint64_t apart = (end - start) / 2;
	taddr_t low = start + (apart < GROWTH ? apart : GROWTH), high = end;

	if (end - start < 4 * DISTANCE)
		return 0;
	high -= DISTANCE;
	if (low < least)
		low = least;
	if (high > most)
		high = most;
	return low < high ? x86_entry_target(entry, low, high) : 0;
}

int room_find_target(pid_t pid, const struct x86_entry *entry, taddr_t *ret)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(pid);
	taddr_t end = LOWEST, found = 0;
	bool any = false;

	while (maps && !found && procfs_maps_next(maps, mapping)) {
		any = true;
		if (mapping->start > end)
			found = target_between(entry, end, mapping->start);
		end = mapping->end;
	}
	if (maps)
		fclose(maps);
	*ret = found / PAGE * PAGE;
	if (!any)
		return -EAGAIN;
	return found ? 0 : -ENOSPC;
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
