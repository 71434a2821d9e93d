/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HEAD_H
#define CALLTRAP_HEAD_H

#include "memory/mappings.h"
#include "memory/picture.h"

/* What a block is, as far as its first bytes tell. */
struct heads;

/* constants: the process's own memory, for what isn't in the picture. */
struct heads *heads_new(const struct mappings *mappings,
			const struct picture *picture,
			struct memory *constants);
void heads_free(struct heads *heads);

/*
 * The class of the object at an address: it begins with a virtual table, whose
 * type information names it (Itanium C++ ABI 2.5, 2.9). NULL when it is none.
 */
const char *heads_class(struct heads *heads, taddr_t address);

/* The printable text that is there, cut; to be freed. NULL when it is none. */
char *heads_text(struct heads *heads, taddr_t address, uint64_t size);

#endif
