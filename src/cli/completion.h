/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COMPLETION_H
#define CALLTRAP_COMPLETION_H

#include <stdio.h>

/* What the scripts of the shells ask with, before the words. */
#define COMPLETION_ARGUMENT "--complete"

/*
 * Prints what may stand in place of the last of some words, which is being
 * typed; the words before it are complete, the program's name left out. A line
 * is a word, a tab and what it means (which may be empty); ":files",
 * ":commands" and ":users" stand for all that the shell knows of these. What
 * doesn't begin as the last word does is left to the shell to leave out.
 */
void completion_print(int count, char **words, FILE *out);

#endif
