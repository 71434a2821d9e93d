/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"

/* An address to which calls return whose returns traps tell of. */
struct return_site {
	struct return_watch watch;
	struct trap_owner owner;
	struct probe_space *space;
	taddr_t address;
	unsigned running;
	bool in_module; /* else the memory may come and go without a word */
	UT_hash_handle hh;
};

static struct return_site *site_of(struct trap_owner *owner)
{
	return (struct return_site *)((char *)owner -
				      offsetof(struct return_site, owner));
}

/* It was hit for nothing: without running calls its trap goes. */
static void remove_if_idle(struct return_site *site)
{
	struct probe_space *space = site->space;

	if (site->running)
		return;
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
	const struct moment moment = moment_of_stop(task);
	struct return_site *site = site_of(owner);

	if (site->space->closed)
		return;
	if (!pairing_return(&moment, site->address) || !site->in_module)
		remove_if_idle(site);
}

static const struct trap_owner_ops return_ops = { .hit = on_return };

static struct return_site *site_new(struct engine *engine,
				    struct probe_space *space, taddr_t address)
{
	struct return_site *site;

	if (code_place_of(space, address) != PLACE_CODE)
		return NULL;
	site = xcalloc(1, sizeof(*site));
	site->watch.engine = engine;
	site->owner.ops = &return_ops;
	site->space = space;
	site->address = address;
	site->in_module = module_find(space->space, address);
	if (trap_plant(space->space, address, &site->owner)) {
		free(site);
		return NULL;
	}
	HASH_ADD(hh, space->sites, address, sizeof(site->address), site);
	return site;
}

struct return_watch *return_site_watch(struct engine *engine,
				       struct probe_space *space,
				       const struct call *call)
{
	const taddr_t address = call->return_address;
	struct return_site *site;

	/* Known for most calls: nothing else is done at each of them. */
	HASH_FIND(hh, space->sites, &address, sizeof(address), site);
	if (!site)
		site = site_new(engine, space, address);
	if (!site)
		return NULL;
	site->running++;
	return &site->watch;
}

void return_site_unwatch(struct return_watch *watch)
{
	((struct return_site *)watch)->running--;
}

void return_sites_forget_range(struct engine *engine UNUSED,
			       struct probe_space *space, taddr_t low,
			       taddr_t high)
{
	struct return_site *site, *next;

	HASH_ITER(hh, space->sites, site, next) {
		if (site->address < low || site->address >= high)
			continue;
		pairing_forget_watch(space, &site->watch);
		HASH_DEL(space->sites, site);
		free(site);
	}
}
