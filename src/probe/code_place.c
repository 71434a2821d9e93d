/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/xalloc.h"
#include "probe/private.h"
#include "sysdeps/linux/procfs.h"

enum code_place code_place_of(struct probe_space *space, taddr_t address)
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
