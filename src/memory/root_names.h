/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ROOT_NAMES_H
#define CALLTRAP_ROOT_NAMES_H

#include "dwarf/debug_type.h"
#include "memory/leaks.h"

/* What people call the places where a program's pointers begin. */
struct root_names;

struct root_names *root_names_new(const struct leaks *leaks);
void root_names_free(struct root_names *names);

/*
 * The place of one pointer: "g_cache.first (shop .bss+0x28)", without debug
 * information "g_cache+0x8 (shop .bss+0x28)", "shop .data+0x10",
 * "stack or variables of thread 12"; where: 0 is a register. Belongs to names.
 */
const char *root_names_place(struct root_names *names, taddr_t where);

/* The variable that it is in: "g_cache (shop .bss+0x20)"; as above. Where that
   isn't known, the mapping, or the place. */
const char *root_names_variable(struct root_names *names, taddr_t where);

/* The module that a place is in a variable of, and where that begins; NULL: it is
   in none that has a name. */
const struct mapping *root_names_variable_at(struct root_names *names,
					     taddr_t where, taddr_t *start_ret);

/* As debuginfo_way(). What the steps refer to belongs to names; equal kinds are
   one pointer. */
int root_names_way(struct root_names *names, const struct mapping *module,
		   taddr_t variable, const uint64_t *offsets, unsigned count,
		   struct debug_step ret[DEBUG_STEPS_MAX]) MUST_CHECK;

/* Whether places were told without their members, as there were too many. */
bool root_names_are_curtailed(const struct root_names *names);

/* Whether it is in a register, or where a running thread has its stack. */
bool root_names_is_of_thread(const struct root_names *names, taddr_t where);

#endif
