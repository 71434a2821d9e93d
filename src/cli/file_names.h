/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FILE_NAMES_H
#define CALLTRAP_FILE_NAMES_H

#include "cli/options.h"

/*
 * Where several processes may be watched, the file of one would take the place
 * of another's: paths of files that hold one process each get the process id
 * ("heap.svg" becomes "heap.%p.svg"), which is told.
 */
void file_names_tell_apart(struct options *options);

/* The same, where it is known that there are. */
void file_names_add_process(struct options *options);

void file_names_fini(struct options *options);

#endif
