/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEFINITIONS_H
#define CALLTRAP_DEFINITIONS_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/pool.h"
#include "prototype/signature.h"
#include "prototype/type.h"
#include "script/script.h"

/* A name that stands for a function or a type. */
struct definition {
	const char *name;
	union {
		const struct prototype *prototype;
		struct type *type;
	};
	UT_hash_handle hh;
};

/* What one prototype file defines. Owns its types, but not imported ones. */
struct definitions {
	char *path;
	struct pool pool;
	struct definition *functions;
	struct definition *types;
	struct script *own_script;   /* what its script items say, or NULL */
	const struct script *script; /* the same, or what was imported */
	const struct definitions **imports;
	size_t import_count;
	size_t import_room;
	bool reading;      /* it is being parsed just now */
	UT_hash_handle hh; /* by path */
};

struct definitions *definitions_new(const char *path);
void definitions_free(struct definitions *definitions);

/* A later definition of a name replaces an earlier one. */
void definitions_add_function(struct definitions *definitions, const char *name,
			      size_t length, const struct prototype *prototype);
void definitions_add_type(struct definitions *definitions, const char *name,
			  size_t length, struct type *type);

/* Takes over the names that are not defined yet. */
void definitions_import(struct definitions *definitions,
			const struct definitions *other);

const struct prototype *
definitions_find_function(const struct definitions *definitions,
			  const char *name);

/* The type, or NULL. Only a struct without members may be changed. */
struct type *definitions_find_type(const struct definitions *definitions,
				   const char *name, size_t length);

#endif
