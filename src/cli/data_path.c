/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/data_path.h"

#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/builtin.h"
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
static void add_folder(struct path_list *list, char *path)
{
	list->directories = xreallocarray(list->directories, list->count + 2,
					  sizeof(*list->directories));
	list->directories[list->count++] = path;
	list->directories[list->count] = NULL;
}

/* Takes the path over. */
static void add(struct path_list *list, char *path)
{
	if (data_path_is_directory(path))
		add_folder(list, path);
	else
		free(path);
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
 * calltrap's own files: in the program itself; beside the program while it isn't installed yet; from
 * where it was installed, which needn't be what configure was told (`make
 * install prefix=/opt', a tree that was moved); or where configure was told.
 */
static bool add_own(struct path_list *list)
{
	char *exe CLEANUP(xfree_cleanup) = procfs_exe(getpid());
	const char *folder = exe ? dirname(exe) : NULL;

	if (builtin_files->name) {
		add_folder(list, xstrdup(BUILTIN_FOLDER));
		return true;
	}
	return (folder && add_if_ours(list, xasprintf("%s/etc", folder))) ||
	       (folder &&
		add_if_ours(list, xasprintf("%s/../share/calltrap", folder))) ||
	       add_if_ours(list, xstrdup(CALLTRAP_DATADIR));
}

void data_path_init(struct data_path *path)
{
	struct path_list list = { .directories = xcalloc(1, sizeof(char *)) };

	add_user(&list);
	add(&list, xstrdup("/etc/calltrap"));
	path->complete = add_own(&list);
	path->directories = list.directories;
}

bool data_path_is_configured(const struct data_path *path)
{
	char *const *first = path->directories;

	return first[0] && (first[1] || !path->complete);
}

void data_path_names_cleanup(char ***names)
{
	for (char **name = *names; *name; name++)
		free(*name);
	free(*names);
}

void data_path_fini(struct data_path *path)
{
	data_path_names_cleanup(&path->directories);
}
