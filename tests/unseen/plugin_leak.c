/* SPDX-License-Identifier: GPL-2.0-or-later
 * needs: -ldl
 *
 * Loads a plugin for each request and unloads it afterwards. The plugin forgets
 * its context; what it works with is freed.
 */
#include "server.h"

#include <dlfcn.h>
#include <libgen.h>

static void run_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)(void);

	if (!plugin)
		return;
	*(void **)&run = dlsym(plugin, "plugin_run");
	if (run)
		run();
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	char *path;

	serve_for(argc, argv);
	if (asprintf(&path, "%s/plugin_module.so", dirname(argv[0])) < 0)
		return 1;
	while (serving(300))
		run_plugin(path);
	free(path);
	return 0;
}
