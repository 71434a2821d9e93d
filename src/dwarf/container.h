/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DWARF_CONTAINER_H
#define CALLTRAP_DWARF_CONTAINER_H

#include "base/strbuf.h"
#include "dwarf/die.h"

/*
 * A container of C++'s library (libstdc++) that a way leads through. Its members
 * are nobody's business; people know whose they are, and what it holds.
 */
struct container {
	struct strbuf name; /* "std::map"; nothing: there is none */
	const char *node;   /* what its nodes begin with, or NULL … */
	struct die value;   /* … and what follows there */
	bool row;           /* its pointer leads to one value after the other */
};

void container_fini(struct container *container);

/* Through a member whose name is the library's own; false: this isn't its class. */
bool container_enter(struct container *container, const struct die *type,
		     const char *member);

/* Whether a type is that of a node, as pointers to one are declared. */
bool container_is_node(const struct container *container,
		       const struct die *type);

/* The value in a node of which the beginning has a size: where it is. */
uint64_t container_value_offset(const struct container *container,
				uint64_t size);

/* What a part of it is called that has a type; nothing where it has no name. */
void container_add_name(const struct container *container,
			const struct die *type, struct strbuf *out);

#endif
