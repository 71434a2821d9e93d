/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FILE_H
#define CALLTRAP_FILE_H

#include <stdio.h>

/*
 * What is behind the last slash of a path; the whole of one that ends in a
 * slash, or has none. NULL has none.
 */
const char *file_base_name(const char *path);

/* For CLEANUP(): closes the file that the variable holds, if any. */
void file_close_cleanup(FILE **file);

#endif
