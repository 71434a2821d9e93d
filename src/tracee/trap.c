/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/trap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/patch.h"
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
 * something else by now. What can't be read may still be an int3: it is written
 * to, which fails if nothing is there.
 */
static bool is_replaced(struct space *space, const struct trap *trap)
{
	const struct arch_ops *arch = space->arch;
	uint32_t word = 0;

	return procmem_read_code(&space->memory, trap->address, &word,
				 arch->trap_size) == arch->trap_size &&
	       word != arch->trap;
}

/* A page of a file that was written to is the process's own from then on. */
struct trap_page {
	taddr_t start;
	UT_hash_handle hh;
};

static void note_page(struct space *space, taddr_t address)
{
	taddr_t start = address & ~(taddr_t)(PAGE_SIZE - 1);
	struct trap_page *page;

	HASH_FIND(hh, space->pages, &start, sizeof(start), page);
	if (page)
		return;
	page = xcalloc(1, sizeof(*page));
	page->start = start;
	HASH_ADD(hh, space->pages, start, sizeof(start), page);
}

static void forget_pages(struct space *space, taddr_t low, taddr_t high)
{
	struct trap_page *page, *next;

	HASH_ITER(hh, space->pages, page, next) {
		if (page->start < low || page->start >= high)
			continue;
		HASH_DEL(space->pages, page);
		free(page);
	}
}

size_t trap_pages(const struct space *space)
{
	return HASH_COUNT(space->pages);
}

/* The guardian has to know before the trap is there, and until it is gone. */
int trap_set_planted(struct space *space, struct trap *trap, bool planted)
{
	struct guardian *guardian = space->tracer->guardian;
	uint32_t word = planted ? space->arch->trap : trap->original;
	int err;

	if (!planted)
		patch_remove(space, trap);
	if (!planted && (patch_stays(trap) || is_replaced(space, trap))) {
		trap->planted = false;
		guardian_unnote(guardian, trap->note);
		trap->note = -1;
		return 0;
	}
	if (planted) {
		err = charge_page(space, trap->address);
		if (err)
			return err;
		trap->note = guardian_note(guardian, space_guard(space),
					   trap->address, trap->original,
					   trap->insn.length);
	}
	err = procmem_write_code(&space->memory, trap->address, &word,
				 space->arch->trap_size);
	/* Where nothing can be written, nothing is there to be lifted. */
	trap->planted = planted && !err;
	if (trap->planted)
		note_page(space, trap->address);
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
			    uint32_t *original_ret, struct insn *ret)
{
	const struct arch_ops *arch = space->arch;
	uint8_t code[16];
	size_t n =
		procmem_read_code(&space->memory, address, code, sizeof(code));
	uint32_t word = 0;
	int err;

	if (n < arch->trap_size)
		return -EIO;
	memcpy(&word, code, arch->trap_size);
	/* A debugger or the program itself was here first. */
	if (word == arch->trap || patch_covers(space, address))
		return -EEXIST;
	*original_ret = word;
	trap_hide(space, address, code, n);
	err = arch->insn_decode(address, code, n, ret);
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

static void set_deferred(struct space *space, struct trap *trap, bool deferred)
{
	if (deferred && !trap->deferred)
		DL_APPEND(space->deferred, trap);
	if (!deferred && trap->deferred)
		DL_DELETE(space->deferred, trap);
	trap->deferred = deferred;
}

static void trap_free(struct space *space, struct trap *trap)
{
	set_deferred(space, trap, false);
	guardian_unnote(space->tracer->guardian, trap->note);
	HASH_DEL(space->traps, trap);
	free(trap->patch);
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
	set_deferred(space, trap, space->defers_traps);
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
		set_deferred(space, trap, false);
	return err;
}

/* Its length is told to the guardian. */
static void decode_original(struct space *space, struct trap *trap,
			    const uint8_t *original, size_t n)
{
	uint8_t code[16];
	const size_t read = procmem_read_code(&space->memory, trap->address,
					      code, sizeof(code));

	memcpy(&trap->original, original, space->arch->trap_size);
	memcpy(code, original, n);
	if (space->arch->insn_decode(trap->address, code, read > n ? read : n,
				     &trap->insn))
		trap->insn.length = 0;
}

struct trap *trap_adopt(struct space *space, taddr_t address,
			const uint8_t *original, size_t n)
{
	struct trap *trap = trap_find(space, address);

	if (trap)
		return NULL;
	trap = trap_new(space, address);
	decode_original(space, trap, original, n);
	trap->note = guardian_note(space->tracer->guardian, space_guard(space),
				   address, trap->original, trap->insn.length);
	trap->planted = true;
	return trap;
}

static void plant_late(struct space *space, struct trap *trap)
{
	set_deferred(space, trap, false);
	if (trap_set_planted(space, trap, true))
		space->tracer->counts.traps_failed++;
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

	all = xcalloc(HASH_COUNT(space->traps) + 1, sizeof(struct trap *));
	HASH_ITER(hh, space->traps, trap, next)
		all[n++] = trap;
	qsort(all, n, sizeof(struct trap *), by_address);
	*count_ret = n;
	return all;
}

/* More than so many are worth a word. */
#define MANY 1000

static void tell_many(struct space *space)
{
	size_t total, i, count = 0, pages = 0;
	struct trap **traps CLEANUP(xfree_cleanup) =
		sorted_traps(space, &total);
	taddr_t last = 0;

	for (i = 0; i < total; i++) {
		if (!traps[i]->deferred)
			continue;
		count++;
		pages += traps[i]->address / PAGE_SIZE != last;
		last = traps[i]->address / PAGE_SIZE;
	}
	if (count <= MANY)
		return;
	diag(DIAG_WARNING, DIAG_SESSION,
	     "process %d: %zu functions are caught. Each call of one of them "
	     "stops its thread, and %.1f MB of code become memory of its own, "
	     "and stay so: -x with fewer names costs less",
	     (int)space->memory.pid, count, pages * PAGE_SIZE / 1e6);
}

void trap_plant_in_slices(struct space *space)
{
	space->defers_traps = false;
	space->plants = true;
	space->tracer->plants = true;
	space->tracer->gathering = true;
	tell_many(space);
}

/*
 * A millisecond or less for few traps: they are planted together, however late
 * it is. Between two slices calls are seen of some functions only, and without
 * a processor for a moment even a few would need two of them.
 */
#define FEW 128

/* A look at the clock costs little beside a write. */
bool trap_plant_slice(struct space *space, uint64_t until)
{
	size_t planted = 0;

	while (space->deferred && (planted++ < FEW || clock_now() < until))
		plant_late(space, space->deferred);
	if (!space->deferred)
		space->plants = false;
	return space->plants;
}

void trap_plant_deferred(struct space *space)
{
	space->defers_traps = false;
	/* Else they come in their turn. */
	while (space->deferred && !space->plants)
		plant_late(space, space->deferred);
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
	else if (!space->defers_traps)
		err = trap_plant_now(space, address);
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
	set_deferred(space, trap, false);
	if (trap->planted)
		(void)trap_set_planted(space, trap, false);
}

void trap_lift_all(struct space *space)
{
	struct trap *trap, *next;

	patch_remove_all(space);
	HASH_ITER(hh, space->traps, trap, next) {
		set_deferred(space, trap, false);
		/* The guardian knows of one that is just being planted, too. */
		if (trap->planted || trap->note >= 0)
			(void)trap_set_planted(space, trap, false);
	}
}

/* What lies there may be another library's by now, which has a trap, too. */
static bool stands(struct space *space, const struct trap *trap)
{
	uint8_t code[sizeof(trap->insn.bytes)];
	const size_t n = trap->insn.length, size = space->arch->trap_size;

	if (patch_stands(trap))
		return !memory_read(&space->memory.memory, trap->address, code,
				    PATCH_SIZE) &&
		       !memcmp(code, trap->patch->after, PATCH_SIZE);
	return n >= size && n <= sizeof(code) &&
	       !memory_read(&space->memory.memory, trap->address, code, n) &&
	       !memcmp(code, &space->arch->trap, size) &&
	       !memcmp(code + size, trap->insn.bytes + size, n - size);
}

bool trap_stands_in(struct space *space, taddr_t low, taddr_t high)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		if (trap->planted && trap->address >= low &&
		    trap->address < high && stands(space, trap))
			return true;
	return false;
}

void trap_forget_range(struct space *space, taddr_t low, taddr_t high)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		if (trap->address >= low && trap->address < high) {
			scratch_release(space, trap);
			trap_free(space, trap);
		}
	forget_pages(space, low, high);
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
		copy->patch = patch_copy(trap->patch);
	}
	child->has_patches = parent->has_patches;
	scratch_inherit(child, parent);
}

void trap_free_all(struct space *space)
{
	trap_forget_range(space, 0, UINT64_MAX);
}

/* Where the next one may be; n: nowhere. */
static size_t next_trap(const struct arch_ops *arch, const uint8_t *code,
			size_t n, size_t from)
{
	const uint8_t *found;
	uint8_t first;

	memcpy(&first, &arch->trap, sizeof(first));
	while (from + arch->trap_size <= n) {
		found = memchr(code + from, first,
			       n - from - (arch->trap_size - 1u));
		if (!found)
			break;
		from = found - code;
		if (!memcmp(found, &arch->trap, arch->trap_size))
			return from;
		from++;
	}
	return n;
}

void trap_hide(struct space *space, taddr_t address, uint8_t *code, size_t n)
{
	const struct arch_ops *arch = space->arch;
	size_t i;

	patch_hide(space, address, code, n);
	for (i = next_trap(arch, code, n, 0); i < n;
	     i = next_trap(arch, code, n, i + 1)) {
		const struct trap *trap = trap_find(space, address + i);

		if (trap && trap->planted)
			memcpy(code + i, &trap->original, arch->trap_size);
	}
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
	const struct arch_ops *arch = cleaning->original->arch;
	taddr_t page = traps[0]->address & ~(taddr_t)(PAGE_SIZE - 1);
	uint8_t code[PAGE_SIZE];
	int err = 0;
	bool changed = false;
	size_t i;

	if (memory_read(&cleaning->child->memory, page, code, sizeof(code)))
		memset(code, 0, sizeof(code)); /* not in this child */
	for (i = 0; i < n && traps[i]->address - page < PAGE_SIZE; i++) {
		uint8_t *at = &code[traps[i]->address - page];

		if (patch_clean(cleaning->original, traps[i], at))
			changed = true;
		if (memcmp(at, &arch->trap, arch->trap_size) != 0)
			continue;
		memcpy(at, &traps[i]->original, arch->trap_size);
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

int trap_clean_copy(struct space *space, struct procmem *child, pid_t forker)
{
	struct cleaning cleaning = { space, child, procmem_write_code, 0 };
	int err = procmem_open(child);

	/* Each page of it is one more. */
	if (!err &&
	    !charge_has_room(space, HASH_COUNT(space->charge.pages), NULL))
		err = -EDQUOT;
	if (err)
		return err;
	err = clean_pages(&cleaning);
	scratch_clean_copy(space, child, forker);
	return err;
}

/* Of a jump that is half written all bytes are put back. */
static void clean_one(const struct space *space, const struct trap *trap,
		      struct procmem *child)
{
	uint8_t code[PATCH_SIZE] = { 0 };
	size_t size = space->arch->trap_size;

	if (memory_read(&child->memory, trap->address, code, size) ||
	    memcmp(code, &space->arch->trap, size) != 0)
		return;
	if (trap->patch &&
	    !memory_read(&child->memory, trap->address, code, sizeof(code)) &&
	    patch_clean(space, trap, code))
		size = sizeof(code);
	else
		memcpy(code, &trap->original, size);
	(void)!procmem_write_code(child, trap->address, code, size);
}

void trap_clean_copy_in_need(struct space *space, struct procmem *child)
{
	struct trap *trap, *next;

	HASH_ITER(hh, space->traps, trap, next)
		clean_one(space, trap, child);
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
