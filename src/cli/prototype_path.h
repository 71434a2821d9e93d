/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROTOTYPE_PATH_H
#define CALLTRAP_PROTOTYPE_PATH_H

#include "base/types.h"
#include "prototype/prototype.h"

/*
 * Reads what -F names (files and directories; NULL-terminated), then adds
 * the directories where prototype files are looked for: the user's, those of
 * the system, calltrap's own. An error has been printed.
 */
int prototype_path_load(struct prototypes *prototypes,
			char *const *configs) MUST_CHECK;

#endif
