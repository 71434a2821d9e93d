/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_BLOCK_NAMES_H
#define CALLTRAP_BLOCK_NAMES_H

#include "dwarf/debug_type.h"
#include "memory/leaks.h"

/*
 * What people call blocks, and the places that hold them: as the process tells
 * while it is there, or a file that was made of it.
 */
struct block_names {
	const struct block_names_ops *ops;
};

struct block_names_ops {
	/* As heads_class(): NULL when it is no object, one text for one class. */
	const char *(*class)(struct block_names *names,
			     const struct block *block);
	/* As heads_text(): to be freed, or NULL. */
	char *(*text)(struct block_names *names, const struct block *block);
	/* As root_names_place() and its like. */
	const char *(*place)(struct block_names *names, taddr_t where);
	const char *(*variable)(struct block_names *names, taddr_t where);
	bool (*is_of_thread)(struct block_names *names, taddr_t where);
	/* As block_types_step(). */
	struct debug_step (*step)(struct block_names *names,
				  const struct block *block);
	/* Whether there were more questions than debug information is asked, so that
	   names are missing; NULL: there never are. */
	bool (*is_curtailed)(struct block_names *names);
	void (*free)(struct block_names *names);
};

/* Of a process that is there still. */
struct block_names *block_names_new(const struct leaks *leaks);

static inline const char *block_names_class(struct block_names *names,
					    const struct block *block)
{
	return names->ops->class(names, block);
}

static inline char *block_names_text(struct block_names *names,
				     const struct block *block)
{
	return names->ops->text(names, block);
}

static inline const char *block_names_place(struct block_names *names,
					    taddr_t where)
{
	return names->ops->place(names, where);
}

static inline const char *block_names_variable(struct block_names *names,
					       taddr_t where)
{
	return names->ops->variable(names, where);
}

static inline bool block_names_is_of_thread(struct block_names *names,
					    taddr_t where)
{
	return names->ops->is_of_thread(names, where);
}

static inline struct debug_step block_names_step(struct block_names *names,
						 const struct block *block)
{
	return names->ops->step(names, block);
}

static inline bool block_names_is_curtailed(struct block_names *names)
{
	return names->ops->is_curtailed && names->ops->is_curtailed(names);
}

static inline void block_names_free(struct block_names *names)
{
	if (names)
		names->ops->free(names);
}

#endif
