/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ACCOUNT_H
#define CALLTRAP_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Users, by the C library's name service. calltrap-static can't load its modules,
 * and has account_files.c instead: /etc/passwd and /etc/group alone.
 */

/* Finds a user by name; false: there is none. */
bool account_find(const char *name, uid_t *uid_ret, gid_t *gid_ret);

/* Gives this process all groups of the user: 0, or a negative errno. */
int account_take_groups(const char *name, gid_t gid);

#endif
