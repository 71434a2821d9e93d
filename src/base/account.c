/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>

bool account_find(const char *name, uid_t *uid_ret, gid_t *gid_ret)
{
	struct passwd *entry = getpwnam(name);

	if (!entry)
		return false;
	*uid_ret = entry->pw_uid;
	*gid_ret = entry->pw_gid;
	return true;
}

int account_take_groups(const char *name, gid_t gid)
{
	return initgroups(name, gid) ? -errno : 0;
}
