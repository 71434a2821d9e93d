/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/patch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/space.h"
#include "tracee/tracer.h"

/* linux/membarrier.h; older systems lack it. */
#define QUERY  0
#define GLOBAL 1

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

bool patch_is_possible(void)
{
	const long known = membarrier(QUERY);

	return known > 0 && known & GLOBAL;
}

/*
 * Each processor has been in the kernel since, and fetches what it goes on with
 * anew.
 */
static int wait_for_processors(void)
{
	return membarrier(GLOBAL) ? -errno : 0;
}

static int write_byte(struct space *space, taddr_t address, uint8_t byte)
{
	return procmem_write_code(&space->memory, address, &byte, 1);
}

/* The bytes behind the first: those at which instructions begin, or others. */
static int write_tail(struct space *space, taddr_t address,
		      const struct patch *patch, const uint8_t *bytes,
		      bool begins)
{
	unsigned i;
	int err = 0;

	for (i = 1; i < PATCH_SIZE && !err; i++)
		if (!patch->places[i] == !begins)
			err = write_byte(space, address + i, bytes[i]);
	return err;
}

static bool read_code(struct space *space, taddr_t address,
		      uint8_t ret[PATCH_SIZE])
{
	return procmem_read_code(&space->memory, address, ret, PATCH_SIZE) ==
	       PATCH_SIZE;
}

static bool is_there(struct space *space, taddr_t address, uint8_t first,
		     const uint8_t *bytes)
{
	uint8_t code[PATCH_SIZE];

	return read_code(space, address, code) && code[0] == first &&
	       !memcmp(code + 1, bytes + 1, PATCH_SIZE - 1);
}

/* Whatever of it has been written, or put back. */
static bool has_tail(const struct patch *patch, const uint8_t *code)
{
	unsigned i;

	for (i = 1; i < PATCH_SIZE; i++)
		if (code[i] != patch->before[i] && code[i] != patch->after[i])
			return false;
	return true;
}

static int put_back_tail(struct space *space, taddr_t address,
			 const struct patch *patch)
{
	/* An instruction is whole again as soon as its first byte is. */
	return write_tail(space, address, patch, patch->before, false) |
	       write_tail(space, address, patch, patch->before, true);
}

static int write_patch(struct space *space, taddr_t address,
		       struct patch *patch)
{
	int err;

	patch->state = PATCH_HALF;
	err = write_tail(space, address, patch, patch->after, true);
	if (!err)
		err = wait_for_processors();
	if (!err)
		err = write_tail(space, address, patch, patch->after, false);
	if (!err)
		err = write_byte(space, address, patch->after[0]);
	if (err)
		(void)put_back_tail(space, address, patch);
	patch->state = err ? PATCH_GONE : PATCH_STANDS;
	return err;
}

struct patch *patch_copy(const struct patch *patch)
{
	struct patch *copy;

	if (!patch)
		return NULL;
	copy = xmalloc(sizeof(*copy));
	*copy = *patch;
	return copy;
}

/* Whatever happens on the way, the trap has one that is whole. */
static void set_patch(struct space *space, struct trap *trap,
		      const struct patch *patch)
{
	struct patch *copy = patch_copy(patch), *old = trap->patch;

	copy->state = PATCH_GONE;
	trap->patch = copy;
	free(old);
	space->has_patches = true;
	guardian_note_patch(space->tracer->guardian, trap->note, trap->address,
			    copy);
}

/* A handler runs on a task, which will be back at the trap. */
static bool is_awaited(struct space *space, taddr_t address)
{
	struct task *task, *next;

	HASH_ITER(hh, space->tracer->tasks, task, next)
		for (unsigned i = 0; i < task->visit_count; i++)
			if (task->visits[i].address == address)
				return true;
	return false;
}

int patch_apply(struct space *space, taddr_t address, const struct patch *patch)
{
	struct trap *trap = trap_find(space, address);
	const uint8_t first = (uint8_t)space->arch->trap;
	int err;

	if (!trap || !trap->planted || patch_stands(trap) || !trap->owners ||
	    trap->owners->next || is_awaited(space, address))
		return -EBUSY;
	if (!is_there(space, address, first, patch->before) ||
	    (uint8_t)trap->original != patch->before[0])
		return -EEXIST;
	set_patch(space, trap, patch);
	if (!guardian_begin_writing(space->tracer->guardian, trap->note))
		return -EBUSY;
	err = is_there(space, address, first, patch->before) ?
		      write_patch(space, address, trap->patch) :
		      -EEXIST;
	guardian_end_writing(space->tracer->guardian, trap->note);
	diag_debug(DIAG_TRAP, "patch %#" PRIx64 ": %d", address, err);
	return err;
}

/* From now on nobody comes in by the jump. */
static bool close_door(struct space *space, struct trap *trap)
{
	const struct patch *patch = trap->patch;
	const uint8_t shut = (uint8_t)space->arch->trap;
	uint8_t code[PATCH_SIZE];

	if (!read_code(space, trap->address, code) || !has_tail(patch, code))
		return false;
	/* A uprobe has come: when it goes, the kernel puts the file's first byte
	   there, before our tail; or it has done so already. */
	if (code[0] == shut)
		return true;
	return (code[0] == patch->after[0] || code[0] == patch->before[0]) &&
	       !write_byte(space, trap->address, shut);
}

static bool any_is_there(const struct trap *trap)
{
	return trap->patch && trap->patch->state != PATCH_GONE;
}

/* Returns whether there is something to be put back. */
static bool begin_removal(struct space *space, struct trap *trap)
{
	if (!any_is_there(trap))
		return false;
	trap->patch->state = PATCH_HALF;
	if (!close_door(space, trap))
		trap->patch->state = PATCH_GONE;
	return any_is_there(trap);
}

static void put_back(struct space *space, struct trap *trap)
{
	int err = put_back_tail(space, trap->address, trap->patch);

	trap->patch->state = PATCH_GONE;
	diag_debug(DIAG_TRAP, "patch %#" PRIx64 " gone: %d", trap->address,
		   err);
}

void patch_remove(struct space *space, struct trap *trap)
{
	if (!begin_removal(space, trap))
		return;
	(void)wait_for_processors();
	put_back(space, trap);
}

void patch_keep(struct trap *trap)
{
	if (!patch_stands(trap))
		return;
	trap->patch->state = PATCH_GONE;
	trap->patch->stays = true;
}

void patch_keep_serving(struct space *space)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		if (trap->patch && trap->patch->serves)
			patch_keep(trap);
}

void patch_remove_all(struct space *space)
{
	struct trap *trap, *next;
	bool any = false;

	HASH_ITER(hh, space->traps, trap, next)
		any |= begin_removal(space, trap);
	if (!any)
		return;
	(void)wait_for_processors();
	HASH_ITER(hh, space->traps, trap, next)
		if (any_is_there(trap))
			put_back(space, trap);
}

void patch_look(struct space *space)
{
	struct trap *trap, *next;

	if (!space->has_patches)
		return;
	HASH_ITER(hh, space->traps, trap, next)
		if (patch_stands(trap) &&
		    !is_there(space, trap->address, trap->patch->after[0],
			      trap->patch->after))
			patch_remove(space, trap);
}

/* Nobody knows who is within: so nobody is, who hasn't come in by it. */
bool patch_adopt(struct space *space, taddr_t address,
		 const uint8_t before[PATCH_SIZE],
		 const uint8_t after[PATCH_SIZE])
{
	struct patch patch = { 0 };
	struct trap *trap;

	if (!patch_is_possible())
		return false;
	trap = trap_adopt(space, address, before, PATCH_SIZE);
	if (!trap)
		return false;
	memcpy(patch.before, before, PATCH_SIZE);
	memcpy(patch.after, after, PATCH_SIZE);
	set_patch(space, trap, &patch);
	trap->patch->state = PATCH_STANDS;
	return true;
}

void patch_restore_adopted(struct space *space)
{
	struct trap *trap, *next;

	patch_remove_all(space);
	HASH_ITER(hh, space->traps, trap, next)
		if (trap->planted && !trap->owners)
			(void)trap_set_planted(space, trap, false);
}

bool patch_clean(const struct space *space, const struct trap *trap,
		 uint8_t *code)
{
	const struct patch *patch = trap->patch;

	if (!patch ||
	    (code[0] != patch->after[0] &&
	     code[0] != (uint8_t)space->arch->trap) ||
	    !has_tail(patch, code))
		return false;
	memcpy(code, patch->before, PATCH_SIZE);
	return true;
}

/* ---- who was within ---- */

static struct trap *find_around(struct space *space, taddr_t address,
				unsigned *offset_ret)
{
	unsigned i;

	for (i = 1; i < PATCH_SIZE && space->has_patches; i++) {
		struct trap *trap = trap_find(space, address - i);

		*offset_ret = i;
		if (trap && trap->patch)
			return trap;
	}
	return NULL;
}

bool patch_covers(struct space *space, taddr_t address)
{
	unsigned offset;
	const struct trap *trap = find_around(space, address, &offset);

	return trap && patch_stands(trap);
}

static bool was_raised(const struct task *task, int signal)
{
	siginfo_t info;

	if (ptrace_get_siginfo(task->tid, &info) || info.si_signo != signal)
		return false;
	return signal == SIGTRAP ?
		       info.si_code == task->tracee->space->arch->trap_code :
		       info.si_code > 0 && info.si_code != SI_KERNEL;
}

bool patch_catch(struct task *task, int signal)
{
	struct space *space = task->tracee ? task->tracee->space : NULL;
	const struct trap *trap;
	struct regs *regs;
	unsigned offset;
	taddr_t ip;

	if (!space || (signal != SIGTRAP && signal != SIGILL))
		return false;
	regs = task_regs(task);
	if (!regs)
		return false;
	ip = space->arch->ip(regs);
	if (signal == SIGTRAP)
		ip -= space->arch->trap_behind;
	trap = find_around(space, ip, &offset);
	if (!trap || !trap->patch->places[offset] || !was_raised(task, signal))
		return false;
	/* Also when it has gone meanwhile: copies stay. */
	space->arch->set_ip(regs, trap->patch->places[offset]);
	task->ip_changed = true;
	diag_debug(DIAG_TRAP, "%d: within patch %#" PRIx64 " at +%u, by %d",
		   (int)task->tid, trap->address, offset, signal);
	return true;
}

/* ---- what others see ---- */

static void hide(const struct patch *patch, taddr_t from, taddr_t address,
		 uint8_t *code, size_t n)
{
	unsigned i;

	for (i = 0; i < PATCH_SIZE; i++)
		if (from + i - address < n)
			code[from + i - address] = patch->before[i];
}

static void hide_trap(const struct trap *trap, taddr_t address, uint8_t *code,
		      size_t n)
{
	if (trap && patch_stands(trap))
		hide(trap->patch, trap->address, address, code, n);
}

/* All of a module's code is more bytes than there are traps. */
void patch_hide(struct space *space, taddr_t address, uint8_t *code, size_t n)
{
	const taddr_t first = address - (PATCH_SIZE - 1);
	const taddr_t count = n + (PATCH_SIZE - 1);
	const struct trap *trap, *next;
	taddr_t i;

	if (!space->has_patches)
		return;
	if (count <= HASH_COUNT(space->traps)) {
		for (i = 0; i < count; i++)
			hide_trap(trap_find(space, first + i), address, code,
				  n);
		return;
	}
	HASH_ITER(hh, space->traps, trap, next)
		if (trap->address - first < count)
			hide_trap(trap, address, code, n);
}
