/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VERB_H
#define CALLTRAP_VERB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

/* The words that begin a command line; NULL behind the last one. */
const char *verb_word(size_t i);

/*
 * How many of the first words are a verb, *ret then; 0: they aren't, and *ret
 * stays as it is.
 */
int verb_read(int argc, char **argv, enum verb *ret);

/* Whether files follow the options, and not a command. */
bool verb_takes_files(enum verb verb);

/* … or a command. */
bool verb_takes_command(enum verb verb);

/* What to type for help with that verb. */
const char *option_help(enum verb verb);

#endif
