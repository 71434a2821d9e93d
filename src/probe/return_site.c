/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"

static void remove_site(struct return_site *site)
{
	struct probe_space *space = site->space;

	trap_unplant(space->space, site->address, &site->owner);
	HASH_DEL(space->sites, site);
	free(site);
}

/*
 * The trap stays when its last call has returned: most call sites will make
 * the same call again. It goes when it was hit for nothing.
 */
static void on_return(struct trap_owner *owner, struct task *task)
{
	struct return_site *site = (struct return_site *)owner;

	pairing_return(site->space, task, site);
}

static const struct trap_owner_ops return_ops = { .hit = on_return };

struct return_site *return_site_get(struct probe_space *space,
				    taddr_t address)
{
	struct return_site *site;

	HASH_FIND(hh, space->sites, &address, sizeof(address), site);
	if (!site) {
		site = xcalloc(1, sizeof(*site));
		site->owner.ops = &return_ops;
		site->space = space;
		site->address = address;
		if (trap_plant(space->space, address, &site->owner)) {
			free(site);
			return NULL;
		}
		HASH_ADD(hh, space->sites, address, sizeof(site->address),
			 site);
	}
	site->running++;
	return site;
}

void return_site_put(struct return_site *site)
{
	site->running--;
}

void return_site_idle(struct return_site *site)
{
	if (!site->running)
		remove_site(site);
}

void return_sites_forget_range(struct probe_space *space, taddr_t low,
			       taddr_t high)
{
	struct return_site *site, *next;

	HASH_ITER(hh, space->sites, site, next) {
		if (site->address < low || site->address >= high)
			continue;
		pairing_forget_site(space, site);
		HASH_DEL(space->sites, site);
		free(site);
	}
}
