/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ATTACH_ALL_H
#define CALLTRAP_ATTACH_ALL_H

#include "cli/session.h"

/*
 * Attaches to the processes of -p and --name; with -f, where memory is watched,
 * to the children that they have already, too. What can't be attached to is
 * told; the rest is traced all the same. Whether there is any.
 */
bool attach_all(struct session *session);

#endif
