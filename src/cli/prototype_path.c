/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/prototype_path.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "sysdeps/linux/procfs.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int add_named(struct prototypes *prototypes, const char *path)
{
	int err;

	if (is_directory(path)) {
		prototypes_add_directory(prototypes, path);
		return 0;
	}
	err = prototypes_add(prototypes, path);
	if (err)
		return complain(err, "-F %s: %s", path, strerror(-err));
	return 0;
}

static void add_below(struct prototypes *prototypes, const char *base,
		      const char *below)
{
	char *path CLEANUP(xfree_cleanup) = xasprintf("%s/%s", base, below);

	if (is_directory(path))
		prototypes_add_directory(prototypes, path);
}

/* The user's: $XDG_CONFIG_HOME/calltrap, by default ~/.config/calltrap. */
static void add_user(struct prototypes *prototypes)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (config && config[0])
		add_below(prototypes, config, "calltrap");
	else if (home && home[0])
		add_below(prototypes, home, ".config/calltrap");
}

/* Below the tree that it was built in, calltrap isn't installed yet. */
static bool add_uninstalled(struct prototypes *prototypes)
{
	char *exe CLEANUP(xfree_cleanup) = procfs_exe(getpid());
	char *etc CLEANUP(xfree_cleanup) = NULL;
	char *mark CLEANUP(xfree_cleanup) = NULL;

	if (!exe)
		return false;
	etc = xasprintf("%s/etc", dirname(exe));
	mark = xasprintf("%s/libc.so.conf", etc);
	if (access(mark, R_OK))
		return false;
	prototypes_add_directory(prototypes, etc);
	return true;
}

int prototype_path_load(struct prototypes *prototypes, char *const *configs)
{
	for (; configs && *configs; configs++) {
		int err = add_named(prototypes, *configs);

		if (err)
			return err;
	}
	add_user(prototypes);
	add_below(prototypes, "/etc", "calltrap");
	if (!add_uninstalled(prototypes) && is_directory(CALLTRAP_DATADIR))
		prototypes_add_directory(prototypes, CALLTRAP_DATADIR);
	return 0;
}
