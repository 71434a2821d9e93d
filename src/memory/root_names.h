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

/*
 * From the pointer at that place on, along those at offsets in the blocks that
 * they lead to: how each of them is told, the first one included. Returns how
 * many are; what they refer to belongs to names.
 */
unsigned root_names_way(struct root_names *names, taddr_t where,
			const uint64_t *offsets, unsigned count,
			struct debug_step ret[DEBUG_STEPS_MAX]);

/* Whether it is in a register, or where a running thread has its stack. */
bool root_names_is_of_thread(const struct root_names *names, taddr_t where);

#endif
