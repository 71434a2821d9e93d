/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/data_path.h"

#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

struct path_list {
	char **directories;
	size_t count;
};

bool data_path_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Takes the path over. */
static void add(struct path_list *list, char *path)
{
	if (!data_path_is_directory(path)) {
		free(path);
		return;
	}
	list->directories = xreallocarray(list->directories, list->count + 2,
					  sizeof(*list->directories));
	list->directories[list->count++] = path;
	list->directories[list->count] = NULL;
}

/* The user's: $XDG_CONFIG_HOME/calltrap, by default ~/.config/calltrap. */
static void add_user(struct path_list *list)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	if (config && config[0])
		add(list, xasprintf("%s/calltrap", config));
	else if (home && home[0])
		add(list, xasprintf("%s/.config/calltrap", home));
}

/* Whether the folder has calltrap's files; it takes the path over. */
static bool add_if_ours(struct path_list *list, char *path)
{
	char *mark CLEANUP(xfree_cleanup) = xasprintf("%s/libc.so.conf", path);

	if (access(mark, R_OK)) {
		free(path);
		return false;
	}
	add(list, path);
	return true;
}

/*
 * calltrap's own files: beside the program while it isn't installed yet; from
 * where it was installed, which needn't be what configure was told (`make
 * install prefix=/opt', a tree that was moved); or where configure was told.
 */
static bool add_own(struct path_list *list)
{
	char *exe CLEANUP(xfree_cleanup) = procfs_exe(getpid());
	const char *folder = exe ? dirname(exe) : NULL;

	return (folder && add_if_ours(list, xasprintf("%s/etc", folder))) ||
	       (folder && add_if_ours(list, xasprintf("%s/../share/calltrap",
						      folder))) ||
	       add_if_ours(list, xstrdup(CALLTRAP_DATADIR));
}

char **data_path(bool *complete_ret)
{
	struct path_list list = { .directories = xcalloc(1, sizeof(char *)) };

	add_user(&list);
	add(&list, xstrdup("/etc/calltrap"));
	*complete_ret = add_own(&list);
	return list.directories;
}

/* Ours is always there, and the last one. */
bool data_path_is_configured(char *const *directories)
{
	return directories[0] && directories[1];
}

void data_path_cleanup(char ***directories)
{
	for (char **directory = *directories; *directory; directory++)
		free(*directory);
	free(*directories);
}
