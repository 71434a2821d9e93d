/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

/*
 * A program may be a thin shell around a library (python3, whose one call is
 * Py_BytesMain()): then calls of the program itself are few, and the user is
 * told where the rest is.
 */

/* Calls that a shell makes before the library takes over. */
#define FEW_CALLS 3

/* How many times larger the library's code is. */
#define THIN 8

/* It is the first one that isn't so many times smaller than the largest. */
#define COMPARABLE 8

static uint64_t code_size(const struct module *module)
{
	size_t count;
	const struct image_segment *segments =
		image_segments(module->image, &count);
	uint64_t size = 0;

	for (size_t i = 0; i < count; i++)
		if (segments[i].executable)
			size += segments[i].memory_size;
	return size;
}

/* The C library is large, and every program calls it. */
static bool is_of_system(const struct module *module)
{
	return module->is_linker || !strncmp(module->name, "libc.", 5) ||
	       !strncmp(module->name, "libstdc++.", 10);
}

static bool may_be_it(const struct module *module)
{
	return !module->is_main && !is_of_system(module);
}

/*
 * The program's own comes before those that are only its own's, which may be larger:
 * R calls libR, and that liblapack.
 */
static const struct module *first_large(const struct space *space,
					uint64_t least)
{
	const struct module *module = space->modules;

	while (module && !(may_be_it(module) && code_size(module) >= least))
		module = module->next;
	return module;
}

void elsewhere_look(struct prober *prober, const struct space *space)
{
	const struct module *module, *found;
	uint64_t own = 0, most = 0;

	if (prober->elsewhere || !space->linkmap.complete)
		return;
	for (module = space->modules; module; module = module->next) {
		const uint64_t size = code_size(module);

		if (module->is_main)
			own = size;
		else if (size > most && may_be_it(module))
			most = size;
	}
	if (!own || most / THIN <= own)
		return;
	found = first_large(space, most / COMPARABLE);
	if (found)
		prober->elsewhere = xstrdup(found->name);
}

/* "@libpython3.11.so*" of libpython3.11.so.1.0. What has a meaning in filters
   is any character. */
static char *pattern_of(const char *name)
{
	const char *end = strstr(name, ".so");
	char *pattern = end ? xasprintf("@%.*s.so*", (int)(end - name), name) :
			      xasprintf("@%s", name);

	for (char *c = pattern + 1; *c; c++)
		if (strchr("+-@\\[", *c))
			*c = '?';
	return pattern;
}

void elsewhere_report(const struct prober *prober)
{
	const struct prober_config *config = &prober->config;
	const bool by_caller = config->default_calls ||
			       !filter_is_empty(config->calls);
	const char *library = by_caller ? prober->elsewhere : NULL;
	const uint64_t calls = prober->counts.calls;
	char *pattern CLEANUP(xfree_cleanup) = NULL;

	if (config->pick || config->system_calls || !prober->counts.probes ||
	    calls > (library && config->default_calls ? FEW_CALLS : 0))
		return;
	if (!library) {
		diag(DIAG_NOTE, DIAG_PROBE, "no call was seen");
		return;
	}
	pattern = pattern_of(library);
	/* Who has got nothing is told why, also beside a file. */
	diag(calls ? DIAG_NOTE : DIAG_WARNING, DIAG_PROBE,
	     "%s: its code is in %s: try -e '%s'",
	     calls ? "next to no call was seen" : "no call was seen", library,
	     pattern);
}
