/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/xalloc.h"
#include "probe/private.h"
#include "sysdeps/linux/procfs.h"

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
	const struct moment moment = moment_of_stop(task);

	pairing_return(&moment, (struct return_site *)owner);
}

static const struct trap_owner_ops return_ops = { .hit = on_return };

/*
 * What lies on top of the stack at an entry isn't always a return address:
 * _start and what the dynamic linker jumps to have other things there, and a
 * trap in data would destroy it. Code outside of modules is made at run time;
 * where its memory is shared, a trap would be in other processes, too.
 */
enum place { PLACE_DATA, PLACE_CODE, PLACE_SHARED_CODE };

static enum place find_place(struct probe_space *space, taddr_t address)
{
	const struct module *module = module_find(space->space, address);
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) = NULL;

	if (module)
		return image_is_code(module->image, address - module->bias) ?
			       PLACE_CODE :
			       PLACE_DATA;
	mapping = xmalloc(sizeof(*mapping));
	if (!procfs_find_mapping(space->space->memory.pid, address, mapping) ||
	    !mapping->executable)
		return PLACE_DATA;
	return mapping->shared ? PLACE_SHARED_CODE : PLACE_CODE;
}

bool return_site_is_code(struct probe_space *space, taddr_t address)
{
	return find_place(space, address) != PLACE_DATA;
}

static struct return_site *site_new(struct probe_space *space, taddr_t address)
{
	struct return_site *site;

	if (find_place(space, address) != PLACE_CODE)
		return NULL;
	site = xcalloc(1, sizeof(*site));
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

struct return_site *return_site_get(struct probe_space *space,
				    taddr_t address)
{
	struct return_site *site;

	/* Known for most calls: nothing else is done at each of them. */
	HASH_FIND(hh, space->sites, &address, sizeof(address), site);
	if (!site)
		site = site_new(space, address);
	if (site)
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
