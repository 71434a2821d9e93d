/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "doctor/check.h"

static void check_allocator(const struct process_facts *process,
			    struct findings *findings)
{
	const char *name = process->allocator;

	if (!process->module_count)
		findings_add(findings, VERDICT_LIMITED, "allocator",
			     "get the permission to trace it",
			     "not known: its mappings can't be read");
	else if (!name && process->program_error)
		findings_add(findings, VERDICT_LIMITED, "allocator",
			     "get the permission to trace it",
			     "not known: its program can't be read");
	else if (!name)
		findings_add(findings, VERDICT_NO, "allocator",
			     "name its functions in a file for --pool",
			     "no malloc was found: calltrap heap has nothing "
			     "to watch");
	else if (strcmp(name, "glibc's malloc") != 0)
		findings_add(findings, VERDICT_LIMITED, "allocator",
			     "use calltrap heap, which works",
			     "%s: calltrap memory may not know its blocks",
			     name);
	else
		findings_add(findings, VERDICT_OK, "allocator", NULL,
			     "%s, for calltrap heap and calltrap memory", name);
}

static bool may_fetch(const struct machine_facts *machine)
{
	return machine->has_debuginfod && machine->debuginfod_urls;
}

static void check_debug(const struct machine_facts *machine,
			const struct module_facts *module,
			struct findings *findings)
{
	const char *what = "debug information", *path = module->path;
	const char *id = *module->build_id ? module->build_id : "none";

	if (module->error)
		findings_add(findings, VERDICT_LIMITED, what,
			     "run calltrap as root, in the host's namespaces",
			     "%s can't be opened: %s", path,
			     module->error == -ENOENT ?
				     "the file that is mapped isn't there" :
				     strerror(-module->error));
	else if (module->debug)
		findings_add(findings, VERDICT_OK, what, NULL,
			     "%s: found%s (build-id %s)", path,
			     module->fetched ? ", fetched before" : "", id);
	else if (!*module->build_id)
		findings_add(findings, VERDICT_LIMITED, what,
			     "build it with -g",
			     "%s: none, and no build-id to look for it by: no "
			     "source lines, no types",
			     path);
	else if (may_fetch(machine))
		findings_add(findings, VERDICT_LIMITED, what, NULL,
			     "%s: not here; it will be asked for of debuginfod "
			     "(build-id %s)",
			     path, id);
	else
		findings_add(findings, VERDICT_LIMITED, what,
			     "install its debug symbols (Debian: "
			     "find-dbgsym-packages FILE), or export "
			     "DEBUGINFOD_URLS",
			     "%s: none, so no source lines, no types (build-id "
			     "%s)",
			     path, id);
}

void check_modules(const struct machine_facts *machine,
		   const struct process_facts *process,
		   struct findings *findings)
{
	check_allocator(process, findings);
	for (size_t i = 0; i < process->module_count; i++)
		check_debug(machine, &process->modules[i], findings);
	if (process->modules_left)
		findings_add(findings, VERDICT_LIMITED, "debug information",
			     NULL, "%zu further mappings weren't looked at",
			     process->modules_left);
}
