/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_NAMES_H
#define CALLTRAP_PYTHON_NAMES_H

#include "memory/leaks.h"

/* What Python calls blocks that are its objects, or parts of these. */
struct python_names;

/* constants: the process's own memory, for what isn't in the picture. */
struct python_names *python_names_new(const struct leaks *leaks,
				      struct memory *constants);
void python_names_free(struct python_names *names);

/* "Session", "keys of dict"; NULL: it is none. Belongs to names. */
const char *python_names_class(struct python_names *names,
			       const struct block *block);

/* Under which key what is there stands in a dictionary: "['g_cache']"; NULL: it
   doesn't, or the key is no text. Good until the next is asked for. */
const char *python_names_key(struct python_names *names, taddr_t where);

#endif
