/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/private.h"

/*
 * longjmp and the unwinder throw frames away whose calls will never return.
 * They are trapped for that, unseen by the user.
 */

enum jump_kind {
	JUMP_LONGJMP, /* the target stands in the jmp_buf */
	JUMP_UNWIND,  /* the target isn't known before it is reached */
	JUMP_EXIT,    /* the same, when a thread ends (pthread_exit) */
	JUMP_NOT,     /* looks at return addresses, or leads to who does */
};

struct nonlocal {
	struct point point;
	enum jump_kind kind;
	struct nonlocal *next;
};

static const struct {
	const char *name;
	enum jump_kind kind;
} jumps[] = {
	{ "longjmp", JUMP_LONGJMP },
	{ "_longjmp", JUMP_LONGJMP },
	{ "siglongjmp", JUMP_LONGJMP },
	{ "__longjmp_chk", JUMP_LONGJMP },
	{ "_Unwind_RaiseException", JUMP_UNWIND },
	{ "_Unwind_Resume", JUMP_UNWIND },
	{ "_Unwind_Resume_or_Rethrow", JUMP_UNWIND },
	{ "_Unwind_ForcedUnwind", JUMP_EXIT },
	{ "_Unwind_Backtrace", JUMP_NOT },
	{ "__cxa_throw", JUMP_NOT },
	{ "__cxa_rethrow", JUMP_NOT },
};

/* Where on this stack the program goes on, further out than now. */
static bool read_target(const struct moment *moment, taddr_t now, taddr_t *ret)
{
	taddr_t targets[JUMP_TARGETS_MAX];
	size_t count = moment->arch->jump_targets(moment->regs, moment->memory,
						  moment->space->space->random,
						  targets);

	for (size_t i = 0; i < count; i++) {
		if (targets[i] <= now ||
		    !moment->ops->is_one_mapping(moment, now, targets[i]))
			continue;
		*ret = targets[i];
		return true;
	}
	return false;
}

/*
 * A thread that ends is taken off its stack by the C library's own longjmp, from
 * below where the unwinding began: on arm64 it is the exported one.
 */
static enum call_end why_jumped(const struct task_calls *calls, taddr_t now,
				taddr_t target)
{
	return calls->unwinding == CALL_THREAD_EXITED &&
			       now < calls->unwind_sp &&
			       calls->unwind_sp < target ?
		       CALL_THREAD_EXITED :
		       CALL_LONGJMP;
}

static void on_jump(struct point *point, const struct moment *moment)
{
	struct nonlocal *jump = (struct nonlocal *)point;
	struct task_calls *calls = moment->calls;
	taddr_t now = moment->arch->sp(moment->regs);
	taddr_t target;

	if (moment->muted || jump->kind == JUMP_NOT)
		return;
	/* What it leaves may have begun in the process, and isn't told yet. */
	engines_catch_up(moment->space->prober, moment->time, moment->tid);
	if (jump->kind == JUMP_LONGJMP) {
		if (!read_target(moment, now, &target))
			return; /* to another stack: nothing is lost */
		pairing_abandon_frames(moment, now, target,
				       why_jumped(calls, now, target));
		engines_forget_frames(moment, target);
		return;
	}
	/* Destructors run on the way up; what lies below goes with the rest. */
	if (!calls->unwinding || calls->unwind_sp > now ||
	    !moment->ops->is_one_mapping(moment, calls->unwind_sp, now))
		calls->unwind_sp = now;
	calls->unwinding = jump->kind == JUMP_EXIT ? CALL_THREAD_EXITED :
						     CALL_EXCEPTION;
}

static const struct point_ops jump_ops = { .reached = on_jump };

static bool is_planted(const struct probe_space *space, taddr_t address)
{
	const struct point *point = points_at(space, address);

	while (point && point->ops != &jump_ops)
		point = point->same_address;
	return point;
}

static unsigned needs_of(enum jump_kind kind)
{
	return ENGINE_ENTRY | (kind == JUMP_NOT ? ENGINE_WALK : ENGINE_MEMORY);
}

static void plant(struct probe_space *space, taddr_t address,
		  enum jump_kind kind)
{
	struct nonlocal *jump;

	if (is_planted(space, address))
		return;
	jump = xcalloc(1, sizeof(*jump));
	jump->point.ops = &jump_ops;
	jump->point.space = space;
	jump->point.address = address;
	jump->point.walks = kind != JUMP_LONGJMP;
	jump->point.unheard = kind == JUMP_NOT;
	jump->kind = kind;
	if (point_plant(&jump->point, needs_of(kind))) {
		free(jump);
		return;
	}
	jump->next = space->nonlocals;
	space->nonlocals = jump;
}

/*
 * Libraries export them; what a program has been linked with statically is
 * among its own symbols only.
 */
static void find_jumps(const struct module *module, const struct symbol **ret)
{
	const char *names[ARRAY_SIZE(jumps)];
	size_t i;

	if (!module->is_main && image_is_dynamic(module->image)) {
		for (i = 0; i < ARRAY_SIZE(jumps); i++)
			ret[i] = image_find_export(module->image, jumps[i].name,
						   NULL);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(jumps); i++)
		names[i] = jumps[i].name;
	image_find_symbols(module->image, names, ARRAY_SIZE(names), ret);
}

void nonlocals_plant(struct probe_space *space, struct module *module)
{
	const struct symbol *found[ARRAY_SIZE(jumps)];
	size_t i;

	find_jumps(module, found);
	for (i = 0; i < ARRAY_SIZE(jumps); i++)
		if (found[i] && found[i]->kind == SYMBOL_FUNCTION)
			plant(space, module->bias + found[i]->address,
			      jumps[i].kind);
}

static bool is_among(const struct symbol *const *found, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++)
		if (!strcmp(jumps[i].name, name))
			return found[i];
	return false;
}

/* Without sections nothing is known of it. */
static bool may_throw(const struct module *module)
{
	return image_has_section(module->image, ".gcc_except_table") ||
	       !image_has_section(module->image, ".text");
}

/* Any that walks is enough where only what allocates returns to the agent: that
   throws by __cxa_throw (cc1plus exports no other). */
static bool are_found(const struct symbol *const *found, bool any)
{
	if (!any)
		return is_among(found, "_Unwind_RaiseException") &&
		       is_among(found, "_Unwind_Resume");
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++)
		if (found[i] && jumps[i].kind != JUMP_LONGJMP)
			return true;
	return false;
}

bool nonlocals_are_hidden(const struct module *module, bool any)
{
	const struct symbol *found[ARRAY_SIZE(jumps)];
	const struct import *imports;
	size_t count, i;

	/* glibc's asks the library when the first thread is cancelled. */
	if (!may_throw(module) ||
	    image_find_export(module->image, "__libc_start_main", NULL))
		return false;
	imports = image_imports(module->image, &count);
	for (i = 0; i < count; i++)
		if (imports[i].name &&
		    !strcmp(imports[i].name, "_Unwind_Resume"))
			return false;
	find_jumps(module, found);
	return !are_found(found, any);
}

void nonlocals_forget_range(struct probe_space *space, taddr_t low,
			    taddr_t high)
{
	struct nonlocal **link = &space->nonlocals;

	while (*link) {
		struct nonlocal *jump = *link;

		if (!point_is_within(&jump->point, low, high)) {
			link = &jump->next;
			continue;
		}
		*link = jump->next;
		point_unplant(&jump->point, true);
		free(jump);
	}
}
