/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The plugin that plugin_leak.c loads and unloads.
 */
#include <stdlib.h>
#include <string.h>

static char *context;

static void plugin_setup(void)
{
	context = malloc(500);
	strcpy(context, "context");
}

static char *plugin_work(void)
{
	return strdup(context);
}

void plugin_run(void)
{
	plugin_setup();
	free(plugin_work());
}
