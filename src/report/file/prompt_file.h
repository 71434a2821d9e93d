/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROMPT_FILE_H
#define CALLTRAP_PROMPT_FILE_H

#include <stdbool.h>

/*
 * Whether nobody else decides when it takes what is written: a regular file, there
 * or still to be made, of a file system on this machine that no process serves,
 * as that might be the very one that is traced. A stalled disk may keep us all
 * the same.
 */
bool file_is_prompt(const char *path);

#endif
