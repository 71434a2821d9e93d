/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/account.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/types.h"

bool account_find(const char *name, uid_t *uid_ret, gid_t *gid_ret)
{
	FILE *file CLEANUP(file_close_cleanup) = fopen("/etc/passwd", "re");
	struct passwd *entry;

	while (file && (entry = fgetpwent(file))) {
		if (strcmp(entry->pw_name, name))
			continue;
		*uid_ret = entry->pw_uid;
		*gid_ret = entry->pw_gid;
		return true;
	}
	return false;
}

static bool is_member(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

int account_take_groups(const char *name, gid_t gid)
{
	FILE *file CLEANUP(file_close_cleanup) = fopen("/etc/group", "re");
	static gid_t groups[NGROUPS_MAX];
	size_t count = 0;
	struct group *group;

	groups[count++] = gid;
	while (file && count < NGROUPS_MAX && (group = fgetgrent(file)))
		if (group->gr_gid != gid && is_member(group, name))
			groups[count++] = group->gr_gid;
	return setgroups(count, groups) ? -errno : 0;
}
