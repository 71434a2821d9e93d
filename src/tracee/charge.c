/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/charge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/vitals.h"
#include "tracee/space.h"

/*
 * What stays free: the kernel charges 64 pages at once for each processor, and
 * the target goes on meanwhile. A calltrap in the same cgroup takes memory, too.
 */
#define SPARE     (UINT64_C(1) << 20)
#define SPARE_OWN (UINT64_C(16) << 20)

static taddr_t page_of(taddr_t address)
{
	return address & ~(taddr_t)(PAGE_SIZE - 1);
}

static bool is_charged(const struct charge *charge, taddr_t page)
{
	struct charged_page *found;

	HASH_FIND(hh, charge->pages, &page, sizeof(page), found);
	return found;
}

static void add_page(struct charge *charge, taddr_t page)
{
	struct charged_page *added = xcalloc(1, sizeof(*added));

	added->address = page;
	HASH_ADD(hh, charge->pages, address, sizeof(added->address), added);
}

/* The limit of a group above both counts for both. */
static bool is_ours(const struct vitals *target, const struct vitals *own)
{
	const size_t n = strlen(target->room_path);

	return own->room_bytes != UINT64_MAX &&
	       !strncmp(own->room_path, target->room_path, n) &&
	       (own->room_path[n] == '/' || !own->room_path[n]);
}

uint64_t charge_spare(const struct vitals *target)
{
	struct vitals own;

	vitals_read_room("", getpid(), &own);
	return is_ours(target, &own) ? SPARE_OWN : SPARE;
}

bool charge_has_room(struct space *space, size_t pages,
		     struct charge_room *room_ret)
{
	struct charge *charge = &space->charge;
	struct charge_room room;
	struct vitals now;

	if (charge->known && !charge->limited)
		return true;
	vitals_read_room("", space->memory.pid, &now);
	charge->known = true;
	charge->limited = now.room_bytes != UINT64_MAX;
	if (!charge->limited)
		return true;
	room = (struct charge_room){ now.room_bytes, charge_spare(&now) };
	if (room_ret)
		*room_ret = room;
	return room.left >= room.spare + pages * (uint64_t)PAGE_SIZE;
}

/* Without a limit there is room for UINT64_MAX bytes. */
bool charge_has_room_for(pid_t target, uint64_t its, uint64_t ours)
{
	struct vitals now, own;
	uint64_t wanted = its + SPARE;

	vitals_read_room("", target, &now);
	vitals_read_room("", getpid(), &own);
	if (is_ours(&now, &own))
		wanted = its + ours + SPARE_OWN;
	return now.room_bytes >= wanted && own.room_bytes >= ours + SPARE_OWN;
}

int charge_page(struct space *space, taddr_t address)
{
	struct charge *charge = &space->charge;
	taddr_t page = page_of(address);

	if ((charge->known && !charge->limited) || is_charged(charge, page))
		return 0;
	if (!charge_has_room(space, 1, NULL)) {
		diag_debug(DIAG_TRAP, "no memory for a page of code");
		charge->refused = true;
		return -ENOMEM;
	}
	if (charge->limited)
		add_page(charge, page);
	return 0;
}

size_t charge_count_deferred(struct space *space)
{
	struct charge counted = { NULL, false, false, false };
	struct trap *trap, *next;
	size_t count;

	HASH_ITER(hh, space->traps, trap, next) {
		taddr_t page = page_of(trap->address);

		if (trap->deferred && !is_charged(&space->charge, page) &&
		    !is_charged(&counted, page))
			add_page(&counted, page);
	}
	count = HASH_COUNT(counted.pages);
	charge_free(&counted);
	return count;
}

void charge_free(struct charge *charge)
{
	struct charged_page *page, *next;

	HASH_ITER(hh, charge->pages, page, next) {
		HASH_DEL(charge->pages, page);
		free(page);
	}
}
