/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/trap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/space.h"
#include "tracee/tracer.h"

struct trap *trap_find(struct space *space, taddr_t address)
{
	struct trap *trap;

	HASH_FIND(hh, space->traps, &address, sizeof(address), trap);
	return trap;
}

/*
 * Memory outside of modules comes and goes without a word, and may hold
 * something else by now.
 */
static bool is_still_there(struct space *space, const struct trap *trap)
{
	uint8_t byte;

	return procmem_read_code(&space->memory, trap->address, &byte, 1) &&
	       byte == space->arch->trap_byte;
}

/* The guardian has to know before the byte is there, and until it is gone. */
int trap_set_planted(struct space *space, struct trap *trap, bool planted)
{
	struct guardian *guardian = space->tracer->guardian;
	uint8_t byte = planted ? space->arch->trap_byte : trap->original;
	int err;

	if (!planted && !is_still_there(space, trap)) {
		trap->planted = false;
		guardian_unnote(guardian, trap->note);
		trap->note = -1;
		return 0;
	}
	if (planted)
		trap->note = guardian_note(guardian, space_guard(space),
					   trap->address, trap->original,
					   trap->insn.length);
	err = procmem_write_code(&space->memory, trap->address, &byte, 1);
	if (!err)
		trap->planted = planted;
	if (planted)
		trap->seen = clock_now();
	if (!trap->planted) {
		guardian_unnote(guardian, trap->note);
		trap->note = -1;
	}
	diag_debug(DIAG_TRAP, "trap %#" PRIx64 " %s: %d", trap->address,
		   planted ? "planted" : "lifted", err);
	return err;
}

/* Reads what is at an address, as it is without traps of ours. */
static int read_instruction(struct space *space, taddr_t address,
			    uint8_t *original_ret, struct insn *ret)
{
	uint8_t code[16];
	size_t n = procmem_read_code(&space->memory, address, code,
				     sizeof(code));
	int err;

	if (!n)
		return -EIO;
	/* A debugger or the program itself was here first. */
	if (code[0] == space->arch->trap_byte)
		return -EEXIST;
	*original_ret = code[0];
	trap_hide(space, address, code, n);
	err = space->arch->insn_decode(address, code, n, ret);
	/* A system call, hlt: there is no way to pass a trap on these. */
	return !err && ret->way == INSN_STEP && !ret->emulable ? -EOPNOTSUPP :
								 err;
}

static struct trap *trap_new(struct space *space, taddr_t address)
{
	struct trap *trap = xcalloc(1, sizeof(*trap));

	trap->address = address;
	trap->note = -1;
	HASH_ADD(hh, space->traps, address, sizeof(trap->address), trap);
	return trap;
}

static void trap_free(struct space *space, struct trap *trap)
{
	guardian_unnote(space->tracer->guardian, trap->note);
	HASH_DEL(space->traps, trap);
	free(trap);
}

/* The code may have changed since the trap was lifted. */
static int plant_anew(struct space *space, struct trap *trap)
{
	struct insn before = trap->insn;
	int err = read_instruction(space, trap->address, &trap->original,
				   &trap->insn);

	if (err)
		return err;
	if (memcmp(before.bytes, trap->insn.bytes, sizeof(before.bytes)))
		scratch_release(space, trap);
	trap->planting++;
	trap->deferred = space->defers_traps;
	return trap->deferred ? 0 : trap_set_planted(space, trap, true);
}

void trap_defer(struct space *space)
{
	space->defers_traps = true;
}

int trap_plant_now(struct space *space, taddr_t address)
{
	struct trap *trap = trap_find(space, address);
	int err = 0;

	if (trap && trap->deferred)
		err = trap_set_planted(space, trap, true);
	if (trap && !err)
		trap->deferred = false;
	return err;
}

void trap_plant_deferred(struct space *space)
{
	struct trap *trap, *next;

	space->defers_traps = false;
	HASH_ITER(hh, space->traps, trap, next) {
		if (!trap->deferred)
			continue;
		trap->deferred = false;
		if (trap_set_planted(space, trap, true))
			space->tracer->counts.traps_failed++;
	}
}

int trap_plant(struct space *space, taddr_t address, struct trap_owner *owner)
{
	struct trap *trap = trap_find(space, address);
	bool is_new = !trap;
	int err = 0;

	if (is_new)
		trap = trap_new(space, address);
	if (!trap->planted && !trap->deferred)
		err = plant_anew(space, trap);
	if (err && is_new)
		trap_free(space, trap);
	if (err)
		return err;
	owner->next = trap->owners;
	trap->owners = owner;
	return 0;
}

void trap_unplant(struct space *space, taddr_t address,
		  struct trap_owner *owner)
{
	struct trap *trap = trap_find(space, address);
	struct trap_owner **link;

	if (!trap)
		return;
	for (link = &trap->owners; *link; link = &(*link)->next) {
		if (*link == owner) {
			*link = owner->next;
			break;
		}
	}
	if (trap->owners)
		return;
	trap->deferred = false;
	if (trap->planted)
		(void)trap_set_planted(space, trap, false);
}

void trap_lift_all(struct space *space)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		if (trap->planted)
			(void)trap_set_planted(space, trap, false);
}

void trap_forget_range(struct space *space, taddr_t low, taddr_t high)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		if (trap->address >= low && trap->address < high) {
			scratch_release(space, trap);
			trap_free(space, trap);
		}
}

void trap_inherit(struct space *child, struct space *parent)
{
	struct trap *trap, *next;

	HASH_ITER(hh, parent->traps, trap, next) {
		struct trap *copy = trap_new(child, trap->address);

		copy->planted = trap->planted;
		copy->original = trap->original;
		copy->insn = trap->insn;
		copy->copy = trap->copy;
	}
	scratch_inherit(child, parent);
}

void trap_free_all(struct space *space)
{
	trap_forget_range(space, 0, UINT64_MAX);
}

void trap_hide(struct space *space, taddr_t address, uint8_t *code, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct trap *trap;

		if (code[i] != space->arch->trap_byte)
			continue;
		trap = trap_find(space, address + i);
		if (trap && trap->planted)
			code[i] = trap->original;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct trap *const *x = a, *const *y = b;

	return ((*x)->address > (*y)->address) -
	       ((*x)->address < (*y)->address);
}

static struct trap **sorted_traps(struct space *space, size_t *count_ret)
{
	size_t n = 0;
	struct trap **all, *trap, *next;

	all = xcalloc(HASH_COUNT(space->traps), sizeof(struct trap *));
	HASH_ITER(hh, space->traps, trap, next)
		all[n++] = trap;
	qsort(all, n, sizeof(struct trap *), by_address);
	*count_ret = n;
	return all;
}

/* A copy of a space that is being cleaned of its traps. */
struct cleaning {
	struct space *original;
	struct procmem *child;
	int (*write)(struct procmem *child, taddr_t page, const void *code,
		     size_t size);
	int err; /* of a page; it doesn't keep the others from being cleaned */
};

/* Cleans the page of traps[0]; returns how many of n lay in it. */
static size_t clean_page(struct cleaning *cleaning, struct trap **traps,
			 size_t n)
{
	taddr_t page = traps[0]->address & ~(taddr_t)(PAGE_SIZE - 1);
	uint8_t code[PAGE_SIZE];
	int err = 0;
	bool changed = false;
	size_t i;

	if (memory_read(&cleaning->child->memory, page, code, sizeof(code)))
		memset(code, 0, sizeof(code)); /* not in this child */
	for (i = 0; i < n && traps[i]->address - page < PAGE_SIZE; i++) {
		uint8_t *byte = &code[traps[i]->address - page];

		if (*byte != cleaning->original->arch->trap_byte)
			continue;
		*byte = traps[i]->original;
		changed = true;
	}
	if (changed)
		err = cleaning->write(cleaning->child, page, code,
				      sizeof(code));
	if (err)
		cleaning->err = err;
	return i;
}

static int clean_pages(struct cleaning *cleaning)
{
	struct trap **traps CLEANUP(xfree_cleanup) = NULL;
	size_t n, i = 0;

	traps = sorted_traps(cleaning->original, &n);
	while (i < n)
		i += clean_page(cleaning, traps + i, n - i);
	return cleaning->err;
}

int trap_clean_copy(struct space *space, struct procmem *child)
{
	struct cleaning cleaning = { space, child, procmem_write_code, 0 };
	int err = procmem_open(child);

	if (err)
		return err;
	err = clean_pages(&cleaning);
	scratch_clean_copy(space, child);
	return err;
}

static int write_by_ptrace(struct procmem *child, taddr_t page,
			   const void *code, size_t size)
{
	return ptrace_write_code(child->pid, page, code, size);
}

/* Copies of instructions stay: nothing leads there any more. */
int trap_clean_stopped_copy(struct space *space, struct procmem *child)
{
	struct cleaning cleaning = { space, child, write_by_ptrace, 0 };

	return clean_pages(&cleaning);
}
