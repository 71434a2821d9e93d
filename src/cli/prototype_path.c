/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/prototype_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/data_path.h"
#include "sysdeps/arch.h"

/* A script that names a file of another machine still gets its log. */
static void add_file(struct prototypes *prototypes, const char *path)
{
	int err = prototypes_add(prototypes, path);

	if (err)
		complain(0, "-F %s: %s; going on without it", path,
			 strerror(-err));
}

/* What ltrace reads. */
static char **ltrace_files(void)
{
	char **files = xcalloc(3, sizeof(*files));
	const char *home = getenv("HOME");
	size_t count = 0;

	if (home && *home)
		files[count++] = xasprintf("%s/.ltrace.conf", home);
	files[count] = xstrdup("/etc/ltrace.conf");
	return files;
}

static void add_ltrace_files(struct prototypes *prototypes, bool first)
{
	char **files CLEANUP(data_path_names_cleanup) = ltrace_files();

	for (char **file = files; *file; file++) {
		if (!first)
			prototypes_add_last(prototypes, *file);
		else if (!access(*file, R_OK))
			add_file(prototypes, *file);
	}
}

/* What a machine has otherwise goes before what most have. */
static void add_folder(struct prototypes *prototypes, const char *path)
{
	char *own CLEANUP(xfree_cleanup) =
		xasprintf("%s/%s", path, arch_native->name);

	prototypes_add_directory(prototypes, own);
	prototypes_add_directory(prototypes, path);
}

/* Files come last: they may import from any of the directories. */
void prototype_path_load(struct prototypes *prototypes, char *const *configs,
			 bool as_ltrace)
{
	struct data_path path CLEANUP(data_path_fini);
	char *const none[] = { NULL };
	bool own;

	data_path_init(&path);
	own = configs || data_path_is_configured(&path);
	if (!path.complete)
		complain(0,
			 "its prototype files aren't where they were "
			 "installed (%s): few arguments are known; "
			 "-F FOLDER names another place",
			 CALLTRAP_DATADIR);
	if (as_ltrace && !configs)
		add_ltrace_files(prototypes, true);
	configs = configs ? configs : none;
	for (char *const *config = configs; *config; config++)
		if (data_path_is_directory(*config))
			add_folder(prototypes, *config);
	for (char **directory = path.directories; *directory; directory++)
		add_folder(prototypes, *directory);
	for (char *const *config = configs; *config; config++)
		if (!data_path_is_directory(*config))
			add_file(prototypes, *config);
	if (!own && !as_ltrace)
		add_ltrace_files(prototypes, false);
}
