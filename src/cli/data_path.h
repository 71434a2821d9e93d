/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DATA_PATH_H
#define CALLTRAP_DATA_PATH_H

#include <stdbool.h>

#include "base/types.h"

/* Where data files lie. */
struct data_path {
	char **directories; /* NULL-terminated: those that there are of the
			       user's, the system's and calltrap's own */
	bool complete;      /* calltrap's own are there: the last one */
};

void data_path_init(struct data_path *path);
void data_path_fini(struct data_path *path);

/* Whether there are files of the user's or the system's own. */
bool data_path_is_configured(const struct data_path *path);

bool data_path_is_directory(const char *path);

/* For CLEANUP(): frees a NULL-terminated list of names. */
void data_path_names_cleanup(char ***names);

#endif
