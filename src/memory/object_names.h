/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OBJECT_NAMES_H
#define CALLTRAP_OBJECT_NAMES_H

#include "memory/leaks.h"

/* What interpreters call blocks that are their objects, or parts of these. */
struct object_names;

/* constants: the process's own memory, for what isn't in the picture. */
struct object_names *object_names_new(const struct leaks *leaks,
				      struct memory *constants);
void object_names_free(struct object_names *names);

/* "Session", "keys of dict"; NULL: it is none. Belongs to names; one text for one
   class. */
const char *object_names_class(struct object_names *names,
			       const struct block *block);

/* What a pointer there, in the block, is called: "['g_cache']" where that is under
   a key, ".user" where it is an attribute; NULL: that isn't known. Good until the
   next is asked for. */
const char *object_names_member(struct object_names *names,
				const struct block *from, taddr_t where);

#endif
