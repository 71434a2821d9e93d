/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_NAMES_H
#define CALLTRAP_PYTHON_NAMES_H

#include "base/memory.h"
#include "memory/blocks.h"
#include "memory/mappings.h"

/* What Python calls its objects. */
struct python_names;

/* Looks at members for all names; a million objects of a class with sixty take as
   many. */
#define PYTHON_LOOKS (1u << 26)

struct python_names *python_names_new(struct memory *memory,
				      const struct mappings *mappings,
				      unsigned looks);
void python_names_free(struct python_names *names);

/* Of an object: "Session"; NULL: it is none. Belongs to names. */
const char *python_names_class(struct python_names *names,
			       const struct block *block);

/* Under which key what is there stands in a dictionary: "['g_cache']"; NULL: it
   doesn't, or the key is no text. Good until the next is asked for. */
const char *python_names_key(struct python_names *names, taddr_t where);

/* ".user": what has a place in objects of its class (__slots__), and there. */
const char *python_names_member(struct python_names *names,
				const struct block *object, taddr_t where);

/* … and what is that many words behind the first of its attributes' values, which
   the object keeps apart, or the dictionary that stands for it. */
const char *python_names_attribute(struct python_names *names,
				   const struct block *holder, uint64_t number);

#endif
