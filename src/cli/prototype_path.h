/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROTOTYPE_PATH_H
#define CALLTRAP_PROTOTYPE_PATH_H

#include <stdbool.h>

#include "base/types.h"
#include "prototype/prototype.h"

/*
 * Reads what -F names (files and directories; NULL-terminated, or NULL), then
 * adds the directories where prototype files are looked for: the user's, those
 * of the system, calltrap's own. What can't be read is told, and left out.
 *
 * ltrace's own files, ~/.ltrace.conf and /etc/ltrace.conf, come last, if neither
 * the user nor the system has some for calltrap; as_ltrace: without -F they come
 * first, as if -F had named them.
 */
void prototype_path_load(struct prototypes *prototypes, char *const *configs,
			 bool as_ltrace);

#endif
