/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "tracee/space.h"
#include "tracee/tracer.h"

bool module_holds(const struct module *module, taddr_t address)
{
	return address >= module->low && address < module->high &&
	       image_has_address(module->image, address - module->bias);
}

struct module *module_find(struct space *space, taddr_t address)
{
	struct module *module;

	for (module = space->modules; module; module = module->next)
		if (module_holds(module, address))
			break;
	return module;
}

/* What follows the last segment's end is nobody's, up to the page's end. */
static void add_slack(struct space *space, struct module *module)
{
	struct image_slack slack[8];
	size_t n = image_slack(module->image, slack, ARRAY_SIZE(slack));
	size_t i;

	for (i = 0; i < n; i++)
		scratch_add_area(space, module->bias + slack[i].address,
				 slack[i].size);
}

struct module *module_add(struct space *space, struct image *image,
			  taddr_t bias, const char *path)
{
	struct module *module = xcalloc(1, sizeof(*module));
	struct module **link = &space->modules;
	const char *soname = image_soname(image);

	module->image = image;
	module->bias = bias;
	module->low = bias + image_low(image);
	module->high = bias + image_high(image);
	module->dynamic = image_dynamic_address(image) ?
				  bias + image_dynamic_address(image) :
				  0;
	module->path = xstrdup(path);
	module->name = soname ? soname : file_base_name(module->path);
	while (*link)
		link = &(*link)->next;
	*link = module;
	add_slack(space, module);
	diag_debug(DIAG_MODULE, "%s mapped at %#" PRIx64, path, bias);
	return module;
}

static void module_free(struct module *module)
{
	image_put(module->image);
	free(module->path);
	free(module);
}

void module_remove(struct space *space, struct module *module)
{
	struct module **link = &space->modules;

	while (*link != module)
		link = &(*link)->next;
	*link = module->next;
	diag_debug(DIAG_MODULE, "%s unmapped from %#" PRIx64, module->path,
		   module->bias);
	module_free(module);
}

void module_free_all(struct space *space)
{
	struct module *module;

	while ((module = space->modules)) {
		space->modules = module->next;
		module_free(module);
	}
}
