/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sched.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/private.h"

/*
 * A child by clone() with CLONE_UNTRACED would be kept from us by the kernel,
 * and die of the traps that it inherits. So the C library's clone() is trapped,
 * and the flag taken away; the program is told nothing by it, and who has set
 * it cares for no tracer that came later.
 */

/* int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...) */
#define FLAGS 2

struct untraced {
	struct trap_owner owner;
	taddr_t address;
	struct untraced *next;
};

static void on_clone(struct trap_owner *owner, struct task *task)
{
	struct space *space = task->tracee->space;
	uint64_t flags;

	(void)owner;
	if (space->arch->argument(&task->regs, &space->memory.memory, FLAGS,
				  &flags) ||
	    !(flags & CLONE_UNTRACED))
		return;
	if (space->arch->set_argument(&task->regs, &space->memory.memory, FLAGS,
				      flags & ~(uint64_t)CLONE_UNTRACED))
		return;
	task->regs_changed = true;
	diag_debug(DIAG_TRAP, "%d: its child is to be traced", (int)task->tid);
}

static const struct trap_owner_ops clone_ops = { .hit = on_clone };

static const struct symbol *find_clone(const struct module *module)
{
	if (!module->is_main && image_is_dynamic(module->image))
		return image_find_export(module->image, "clone", NULL);
	return image_find_symbol(module->image, "clone");
}

void untraced_plant(struct probe_space *space, const struct module *module)
{
	const struct symbol *symbol = find_clone(module);
	struct untraced *untraced;

	if (!symbol || symbol->kind != SYMBOL_FUNCTION)
		return;
	untraced = xcalloc(1, sizeof(*untraced));
	untraced->owner.ops = &clone_ops;
	untraced->address = module->bias + symbol->address;
	if (trap_plant(space->space, untraced->address, &untraced->owner)) {
		free(untraced);
		return;
	}
	untraced->next = space->untraced;
	space->untraced = untraced;
}

void untraced_forget_range(struct probe_space *space, taddr_t low, taddr_t high)
{
	struct untraced **link = &space->untraced;

	while (*link) {
		struct untraced *untraced = *link;

		if (untraced->address < low || untraced->address >= high) {
			link = &untraced->next;
			continue;
		}
		*link = untraced->next;
		free(untraced);
	}
}
