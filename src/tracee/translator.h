/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TRANSLATOR_H
#define CALLTRAP_TRANSLATOR_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Programs under valgrind are never run themselves: one of its tools is, which
 * runs what it makes of their code. A trap there would be translated, too, or
 * never be met. path: of a process's executable file.
 */
bool translator_is(const char *path);

/* Why no function of a process can be caught, or NULL; to be freed. */
char *translator_refuse(pid_t pid);

#endif
