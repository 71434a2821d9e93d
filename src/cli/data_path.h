/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DATA_PATH_H
#define CALLTRAP_DATA_PATH_H

#include <stdbool.h>

#include "base/types.h"

/*
 * The directories that there are of the user's, the system's and calltrap's
 * own files, in this order; NULL-terminated. *complete_ret is whether calltrap's
 * own are among them.
 */
char **data_path(bool *complete_ret) MUST_CHECK;
void data_path_cleanup(char ***directories);

/* Whether there are files of the user's or the system's own. */
bool data_path_is_configured(char *const *directories);

bool data_path_is_directory(const char *path);

#endif
