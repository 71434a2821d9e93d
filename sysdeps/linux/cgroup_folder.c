/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/cgroup_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/open_below.h"

/* ---- files ---- */

/* It could be anything that the process has made: a device, a pipe. */
static FILE *open_found(int found)
{
	struct statfs fs;
	char path[64];

	if (fstatfs(found, &fs) || (fs.f_type != CGROUP_SUPER_MAGIC &&
				    fs.f_type != CGROUP2_SUPER_MAGIC))
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	return fopen(path, "re");
}

static FILE *open_in_root(const char *root, pid_t pid, const char *path)
{
	char *place CLEANUP(xfree_cleanup) =
		xasprintf("%s/proc/%d/root", root, (int)pid);
	int top = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int found = top < 0 ? -1 : open_below(top, path, O_NOFOLLOW);
	FILE *file = found < 0 ? NULL : open_found(found);

	if (found >= 0)
		close(found);
	if (top >= 0)
		close(top);
	return file;
}

FILE *cgroup_folder_open(const struct cgroup_folder *folder, const char *root,
			 const char *name)
{
	char *path CLEANUP(xfree_cleanup) = xasprintf("%s%s/%s",
						      folder->seer ? "" : root,
						      folder->path, name);

	return folder->seer ? open_in_root(root, folder->seer, path) :
			      fopen(path, "re");
}

/* Another mount may hide it: each group has this file. */
static bool is_there(const struct cgroup_folder *folder, const char *root)
{
	FILE *file CLEANUP(file_close_cleanup) =
		cgroup_folder_open(folder, root, "cgroup.procs");

	return file;
}

/* ---- mounts ---- */

/* "/with\040space" becomes "/with space", as proc(5) says. */
static void decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to = (from[1] - '0') * 64 + (from[2] - '0') * 8 +
			      (from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Whether a list, "rw,memory", has a word. */
static bool list_has(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (;; list++) {
		size_t n = strcspn(list, ",\n");

		if (n == length && !memcmp(list, word, n))
			return true;
		list += n;
		if (*list != ',')
			return false;
	}
}

static bool is_wanted(const char *type, unsigned version)
{
	char name[16], options[1024];

	if (sscanf(type, "- %15s %*s %1023s", name, options) != 2)
		return false;
	return version == 2 ?
		       !strcmp(name, "cgroup2") :
		       !strcmp(name, "cgroup") && list_has(options, "memory");
}

/*
 * The path of a group below the one that is mounted, or NULL: it isn't there.
 * Both may begin with "/..": above the root of our namespace.
 */
static const char *path_below(const char *group, const char *mounted)
{
	size_t length = strcmp(mounted, "/") ? strlen(mounted) : 0;
	const char *rest = group + length;

	if (strncmp(group, mounted, length) || (*rest && *rest != '/'))
		return NULL;
	if (!strcmp(rest, "/"))
		return "";
	return !strncmp(rest, "/..", 3) && (!rest[3] || rest[3] == '/') ? NULL :
									  rest;
}

static void take(struct cgroup_folder *folder, const char *point,
		 const char *below)
{
	free(folder->path);
	folder->path = xasprintf("%s%s", point, below);
	folder->top = strlen(point);
}

/* Whether a mount lies over the one that was found. */
static bool is_hidden(const struct cgroup_folder *folder, const char *point)
{
	return folder->path && strlen(point) == folder->top &&
	       !memcmp(folder->path, point, folder->top);
}

static void forget(struct cgroup_folder *folder)
{
	free(folder->path);
	folder->path = NULL;
}

/* "36 35 0:32 /group /where options tags… - type source options" */
static void try_mount(struct cgroup_folder *folder, char *line,
		      unsigned version, const char *group)
{
	char *type = strstr(line, " - "), *mounted, *point, *rest = line;
	const char *below;

	if (!type)
		return;
	*type = '\0';
	for (int i = 0; i < 3; i++)
		(void)strsep(&rest, " ");
	mounted = strsep(&rest, " ");
	point = strsep(&rest, " ");
	if (!mounted || !point)
		return;
	decode(mounted);
	decode(point);
	if (is_hidden(folder, point))
		forget(folder);
	below = path_below(group, mounted);
	if (below && is_wanted(type + 1, version))
		take(folder, point, below);
}

static bool find_mount(struct cgroup_folder *folder, const char *root,
		       const char *process, unsigned version, const char *group)
{
	char *path CLEANUP(xfree_cleanup) =
		xasprintf("%s/proc/%s/mountinfo", root, process);
	FILE *file CLEANUP(file_close_cleanup) = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		try_mount(folder, line, version, group);
	free(line);
	if (folder->path && !is_there(folder, root))
		forget(folder);
	return folder->path;
}

/* ---- groups ---- */

/*
 * Where they mostly are, which saves a look at all mounts. A container may have
 * its own group there: it is the root of what is mounted.
 */
static bool find_usual(struct cgroup_folder *folder, const char *root,
		       unsigned version, const char *group)
{
	static const char *const points[] = { "/sys/fs/cgroup/memory",
					      "/sys/fs/cgroup/unified",
					      "/sys/fs/cgroup" };

	if (!path_below(group, "/") || !*path_below(group, "/"))
		return false;
	for (size_t i = version - 1; i < (version == 1 ? 1 : 3); i++) {
		char *path CLEANUP(xfree_cleanup) =
			xasprintf("%s%s%s", root, points[i], group);

		if (access(path, F_OK))
			continue;
		take(folder, points[i], group);
		return true;
	}
	return false;
}

bool cgroup_folder_find(struct cgroup_folder *folder, const char *root,
			pid_t pid, unsigned version, const char *group)
{
	char process[16];

	*folder = (struct cgroup_folder){ 0 };
	if (find_usual(folder, root, version, group) ||
	    find_mount(folder, root, "self", version, group))
		return true;
	snprintf(process, sizeof(process), "%d", (int)pid);
	folder->seer = pid;
	return find_mount(folder, root, process, version, group);
}

bool cgroup_folder_go_up(struct cgroup_folder *folder)
{
	char *slash = strrchr(folder->path, '/');

	if (!slash || strlen(folder->path) <= folder->top)
		return false;
	*slash = '\0';
	return true;
}

void cgroup_folder_free(struct cgroup_folder *folder)
{
	free(folder->path);
	*folder = (struct cgroup_folder){ 0 };
}
