/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/freezer.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/types.h"
#include "sysdeps/linux/lines.h"

/* A file that says it, and how its line begins then. */
struct sign {
	const char *file;
	const char *line;
};

/* FROZEN is said of those below as well; cgroup.freeze only of the group. */
static const struct sign signs_v1[] = {
	{ "freezer.state", "FROZEN" },
	{ "freezer.state", "FREEZING" },
	{ NULL, NULL },
};

static const struct sign signs_v2[] = {
	{ "cgroup.events", "frozen 1" },
	{ "cgroup.freeze", "1" },
	{ NULL, NULL },
};

struct hierarchy {
	unsigned version;
	const char *mount;
	const struct sign *signs;
};

static const struct hierarchy hierarchies[] = {
	{ 1, "/sys/fs/cgroup/freezer", signs_v1 },
	{ 2, "/sys/fs/cgroup", signs_v2 },
	{ 2, "/sys/fs/cgroup/unified", signs_v2 },
};

static bool shows(const char *root, const char *directory,
		  const struct sign *sign)
{
	char path[2 * PATH_MAX];
	struct lines lines;
	bool found = false;
	const char *line;

	if (snprintf(path, sizeof(path), "%s%s/%s", root, directory,
		     sign->file) >= (int)sizeof(path) ||
	    !lines_open(&lines, path))
		return false;
	while (!found && (line = lines_next(&lines)))
		found = !strncmp(line, sign->line, strlen(sign->line));
	lines_close(&lines);
	return found;
}

/* The groups from the task's own up to the root. */
static bool climb(const char *root, const struct hierarchy *hierarchy,
		  const char *group)
{
	const size_t mount = strlen(hierarchy->mount);
	char directory[2 * PATH_MAX];

	if (snprintf(directory, sizeof(directory), "%s%s", hierarchy->mount,
		     strcmp(group, "/") ? group : "") >= (int)sizeof(directory))
		return false;
	for (;;) {
		char *slash = strrchr(directory, '/');
		const struct sign *sign;

		for (sign = hierarchy->signs; sign->file; sign++)
			if (shows(root, directory, sign))
				return true;
		if (strlen(directory) <= mount || !slash)
			return false;
		*slash = '\0';
	}
}

static bool is_named(const char *controllers, const char *name)
{
	const size_t n = strlen(name);
	const char *end;

	for (; *controllers; controllers = *end ? end + 1 : end) {
		end = strchrnul(controllers, ',');
		if ((size_t)(end - controllers) == n &&
		    !memcmp(controllers, name, n))
			return true;
	}
	return false;
}

/* "4:freezer:/group" (v1) or "0::/group" (v2; cgroups(7)) */
static bool is_frozen_by(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group;
	size_t i;

	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return false;
	*group++ = '\0';
	controllers++;
	for (i = 0; i < ARRAY_SIZE(hierarchies); i++) {
		const struct hierarchy *h = &hierarchies[i];
		bool meant = h->version == 2 ? !*controllers :
					       is_named(controllers, "freezer");

		if (meant && climb(root, h, group))
			return true;
	}
	return false;
}

bool freezer_has_frozen(const char *root, pid_t tid)
{
	char path[PATH_MAX];
	struct lines lines;
	bool found = false;
	char *line;

	if (snprintf(path, sizeof(path), "%s/proc/%d/cgroup", root, (int)tid) >=
		    (int)sizeof(path) ||
	    !lines_open(&lines, path))
		return false;
	while (!found && (line = lines_next(&lines)))
		found = is_frozen_by(root, line);
	lines_close(&lines);
	return found;
}
