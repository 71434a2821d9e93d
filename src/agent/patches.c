/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/patches.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "agent/room.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/x86/entry.h"
#include "tracee/patch.h"

_Static_assert(AGENT_PATCH_SIZE == PATCH_SIZE, "the same jump");
_Static_assert(X86_ENTRY_SIZE == PATCH_SIZE, "the same jump");
_Static_assert(sizeof(struct agent_trampoline) == 128, "no holes");
_Static_assert(X86_ENTRY_COPY_MAX <=
		       sizeof(((struct agent_trampoline *)0)->copy),
	       "it has its place");
_Static_assert(sizeof(struct agent_trampoline) <= X86_ENTRY_SPREAD,
	       "what is in reach of its begin is so of all of it");

/* ---- which functions ---- */

/* What is fetched at once: no jump is ever seen in part. */
#define FETCHED 16

static bool is_within_line(taddr_t function)
{
	return function % FETCHED + PATCH_SIZE <= FETCHED;
}

static bool has_other_traps(struct space *space, const struct x86_entry *entry)
{
	unsigned i;

	for (i = 1; i < entry->length; i++) {
		const struct trap *trap = trap_find(space, entry->address + i);

		if (trap && trap->planted)
			return true;
	}
	return false;
}

/* Larger functions are rare; to read them takes time. */
#define FUNCTION_MOST (1u << 20)

/* The function that the address lies in, or NULL. */
static const struct symbol *symbol_around(const struct module *module,
					  uint64_t address)
{
	size_t low = 0, high;
	const struct symbol *symbols = image_symbols(module->image, &high);

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (symbols[middle].address > address)
			high = middle;
		else
			low = middle + 1;
	}
	while (low--)
		if (address < symbols[low].address + symbols[low].size)
			return &symbols[low];
		else if (symbols[low].size)
			break;
	return NULL;
}

/* From the function's begin on, as the processor would. */
static bool ends_at(struct agent *agent, taddr_t begin, taddr_t end)
{
	const size_t size = end - begin;
	uint8_t *code CLEANUP(xfree_cleanup) = xmalloc(size + 16);
	struct insn insn;
	size_t n = procmem_read_code(&agent->space->memory, begin, code,
				     size + 16);
	size_t at = 0;

	trap_hide(agent->space, begin, code, n);
	while (at < size && at < n) {
		if (arch_x86_64.insn_decode(begin + at, code + at, n - at,
					    &insn))
			return true; /* who knows */
		at += insn.length;
	}
	return at <= size;
}

/* Some bytes look like a branch, and are part of something else. */
static bool is_branch(struct agent *agent, const struct module *module,
		      taddr_t end)
{
	const struct symbol *symbol =
		symbol_around(module, end - 1 - module->bias);

	return !symbol ||
	       end - module->bias - symbol->address > FUNCTION_MOST ||
	       ends_at(agent, module->bias + symbol->address, end);
}

#define CHUNK (64u << 10)

/* Parts overlap, so that no branch lies in none. */
static bool is_reached_within(struct agent *agent, const struct module *module,
			      const struct x86_entry *entry, taddr_t low,
			      taddr_t high)
{
	uint8_t *code CLEANUP(xfree_cleanup) = xmalloc(CHUNK);

	while (low < high) {
		const size_t n = high - low < CHUNK ? high - low : CHUNK;
		size_t at = 0;

		if (procmem_read_code(&agent->space->memory, low, code, n) != n)
			return true;
		trap_hide(agent->space, low, code, n);
		while ((at = x86_entry_find_branch(entry, low, code, n, at)))
			if (is_branch(agent, module, low + at))
				return true;
		if (n < CHUNK)
			break;
		low += CHUNK - 16;
	}
	return false;
}

/* Without a symbol: as far as most functions go. */
#define UNKNOWN_SIZE 4096

static uint64_t size_of(const struct module *module, taddr_t function)
{
	const struct symbol *symbol =
		symbol_around(module, function - module->bias);

	return symbol ? symbol->address + symbol->size -
				(function - module->bias) :
			UNKNOWN_SIZE;
}

/* By code of the same module; nobody else knows the place. */
static bool is_reached(struct agent *agent, const struct x86_entry *entry)
{
	const struct module *module = module_find(agent->space, entry->address);
	struct x86_entry own = *entry;
	const struct image_segment *segments;
	size_t count, i;

	if (!module)
		return true;
	own.size = size_of(module, own.address);
	segments = image_segments(module->image, &count);
	for (i = 0; i < count; i++) {
		const taddr_t low = module->bias + segments[i].address;

		if (segments[i].executable &&
		    is_reached_within(agent, module, &own, low,
				      low + segments[i].file_size))
			return true;
	}
	return false;
}

static int look_at(struct agent *agent, taddr_t function, struct x86_entry *ret)
{
	uint8_t code[32];
	const size_t n = procmem_read_code(&agent->space->memory, function,
					   code, sizeof(code));
	int err;

	if (!is_within_line(function))
		return -ENOTSUP;
	trap_hide(agent->space, function, code, n);
	err = x86_entry_decode(function, code, n, ret);
	if (err)
		return err;
	return has_other_traps(agent->space, ret) ? -EBUSY : 0;
}

/* ---- trampolines ---- */

struct trampoline {
	taddr_t at;
	struct agent_trampoline code;
	struct patch patch;
};

static taddr_t copy_at(taddr_t trampoline)
{
	return trampoline + offsetof(struct agent_trampoline, copy);
}

static taddr_t door_at(taddr_t trampoline)
{
	return trampoline + offsetof(struct agent_trampoline, door);
}

static void put_jump_to_copy(struct agent_trampoline *code)
{
	const int32_t distance =
		(int32_t)offsetof(struct agent_trampoline, copy) -
		(int32_t)(offsetof(struct agent_trampoline, door) + 5);

	code->door[0] = 0xe9;
	memcpy(code->door + 1, &distance, sizeof(distance));
}

static int make(const struct x86_entry *entry, taddr_t hook, taddr_t at,
		struct trampoline *ret)
{
	unsigned i, from = 0;
	int size;

	*ret = (struct trampoline){ .at = at, .patch.target = at };
	stub_put_far_jump(ret->code.jump, hook);
	put_jump_to_copy(&ret->code);
	size = x86_entry_copy(entry, copy_at(at), ret->code.copy,
			      ret->patch.places);
	if (size < 0)
		return size;
	x86_entry_jump(entry, at, ret->patch.after);
	for (i = 0; i < entry->count; i++) {
		unsigned k;

		for (k = 0; k < entry->insns[i].length; k++, from++)
			if (from < PATCH_SIZE)
				ret->patch.before[from] =
					entry->insns[i].bytes[k];
	}
	return 0;
}

/* By one of an earlier calltrap's that no stub leads to any more: a thread may. */
static bool is_written(struct agent *agent, taddr_t at)
{
	static const struct agent_trampoline none;
	struct agent_trampoline code;

	return !agent_read(agent, at, &code, sizeof(code)) ||
	       memcmp(&code, &none, sizeof(code)) != 0;
}

static bool is_taken(struct agent *agent, taddr_t at, taddr_t *end_ret)
{
	unsigned i;

	if (is_written(agent, at)) {
		*end_ret = at + sizeof(struct agent_trampoline);
		return true;
	}
	for (i = 0; i < agent->stub_count; i++) {
		const taddr_t other = agent->stubs[i].trampoline;

		if (other && at < other + sizeof(struct agent_trampoline) &&
		    other < at + sizeof(struct agent_trampoline)) {
			*end_ret = other + sizeof(struct agent_trampoline);
			return true;
		}
	}
	return false;
}

static taddr_t place_in(struct agent *agent, const struct x86_entry *entry,
			taddr_t page)
{
	const taddr_t high =
		page + AGENT_PAGE_SIZE - sizeof(struct agent_trampoline) + 1;
	taddr_t at = x86_entry_target(entry, page, high), end;

	while (at && is_taken(agent, at, &end))
		at = x86_entry_target(entry, end, high);
	return at;
}

static taddr_t place(struct agent *agent, const struct x86_entry *entry)
{
	unsigned i;
	taddr_t at = 0;

	for (i = 0; i < agent->page_count && !at; i++)
		at = place_in(agent, entry, agent->pages[i]);
	return at;
}

/* An earlier one's, which a thread may be in: as it is, or not at all. */
static bool is_as_before(struct agent *agent, const struct x86_entry *entry,
			 taddr_t hook, taddr_t at, struct trampoline *ret)
{
	struct agent_trampoline code;
	uint8_t jump[PATCH_SIZE];

	if (!at || make(entry, hook, at, ret) ||
	    !agent_read(agent, at, &code, sizeof(code)) ||
	    memcmp(&code, &ret->code, sizeof(code)) != 0)
		return false;
	x86_entry_jump(entry, at, jump);
	return !memcmp(jump, ret->patch.after, sizeof(jump)) &&
	       x86_entry_target(entry, at, at + 1) == at;
}

static int want_page(struct agent *agent, const struct x86_entry *entry)
{
	taddr_t place;
	int err;

	if (agent->page_count == AGENT_PAGES)
		return -ENOSPC;
	err = room_find_target(agent->space->memory.pid, entry, &place);
	if (err)
		return err;
	agent->page_wanted = place;
	return -EAGAIN;
}

static int write_stub(struct agent *agent, unsigned stub)
{
	const struct agent_stub *own = &agent->stubs[stub];
	const taddr_t at = stub_address(agent->base, stub);

	/* Each word by itself: hooks read them meanwhile. */
	return agent_write(agent, at + offsetof(struct agent_stub, before),
			   own->before, sizeof(own->before)) |
	       agent_write(agent, at + offsetof(struct agent_stub, trampoline),
			   &own->trampoline, sizeof(own->trampoline)) |
	       agent_write(agent, at + offsetof(struct agent_stub, door),
			   &own->door, sizeof(own->door)) |
	       agent_write(agent, at + offsetof(struct agent_stub, original),
			   &own->original, sizeof(own->original));
}

static int get_trampoline(struct agent *agent, unsigned stub,
			  const struct x86_entry *entry, struct trampoline *ret)
{
	const taddr_t hook = stub_address(agent->base, stub);
	taddr_t at = agent->stubs[stub].trampoline;
	int err;

	if (is_as_before(agent, entry, hook, at, ret))
		return 0;
	at = place(agent, entry);
	if (!at)
		return want_page(agent, entry);
	err = make(entry, hook, at, ret);
	return err ? err :
		     agent_write(agent, at, &ret->code, sizeof(ret->code));
}

/* ---- patches ---- */

bool patches_stand(const struct agent *agent, unsigned stub)
{
	const struct trap *trap =
		trap_find(agent->space, agent->stubs[stub].function);

	return trap && patch_stands(trap);
}

static int open_door(struct agent *agent, unsigned stub,
		     const struct trampoline *trampoline,
		     struct trap_owner *door)
{
	struct agent_stub *own = &agent->stubs[stub];
	int err = 0;

	if (door)
		err = trap_plant(agent->space, door_at(trampoline->at), door);
	if (err)
		return err;
	own->trampoline = trampoline->at;
	memcpy(own->before, trampoline->patch.before, PATCH_SIZE);
	own->door = copy_at(trampoline->at);
	/* (A linkage stub's jump reads a slot that may lead to a trap.) */
	if (!stub_needs_no_code(own))
		own->original = own->door;
	if (door)
		own->door = door_at(trampoline->at);
	return write_stub(agent, stub);
}

static void shut_door(struct agent *agent, unsigned stub,
		      struct trap_owner *door)
{
	struct agent_stub *own = &agent->stubs[stub];

	own->original = stub_address(agent->base, stub) +
			offsetof(struct agent_stub, copy);
	own->door = own->failure & AGENT_WALKS ? own->original : own->function;
	(void)write_stub(agent, stub);
	if (door && own->trampoline)
		trap_unplant(agent->space, door_at(own->trampoline), door);
}

int patches_apply(struct agent *agent, unsigned stub, struct trap_owner *door)
{
	struct agent_stub *own = &agent->stubs[stub];
	struct trampoline trampoline;
	struct x86_entry entry;
	int err;

	if (agent->retired || !patch_is_possible())
		return -ENOTSUP;
	if (agent->page_pending || agent->page_wanted)
		return -EAGAIN;
	err = look_at(agent, own->function, &entry);
	if (!err && is_reached(agent, &entry))
		err = -ENOTSUP;
	if (!err)
		err = get_trampoline(agent, stub, &entry, &trampoline);
	if (!err)
		err = open_door(agent, stub, &trampoline, door);
	if (err)
		return err;
	trampoline.patch.serves = own->failure & AGENT_WALKS;
	err = patch_apply(agent->space, own->function, &trampoline.patch);
	if (err)
		shut_door(agent, stub, door);
	return err;
}

void patches_remove(struct agent *agent, unsigned stub, struct trap_owner *door)
{
	struct trap *trap =
		trap_find(agent->space, agent->stubs[stub].function);

	if (trap)
		patch_remove(agent->space, trap);
	shut_door(agent, stub, door);
}

void patches_keep(struct agent *agent, unsigned stub, struct trap_owner *door)
{
	struct agent_stub *own = &agent->stubs[stub];
	struct trap *trap = trap_find(agent->space, own->function);

	if (trap)
		patch_keep(trap);
	own->door = own->original;
	(void)write_stub(agent, stub);
	if (door)
		trap_unplant(agent->space, door_at(own->trampoline), door);
}

/* ---- what was left behind ---- */

static bool leads_to(const struct agent_stub *stub, const uint8_t *code)
{
	const struct x86_entry entry = { .address = stub->function };
	uint8_t jump[PATCH_SIZE];

	x86_entry_jump(&entry, stub->trampoline, jump);
	return !memcmp(code, jump, sizeof(jump));
}

bool patches_adopt(struct space *space, const struct agent_stub *stub)
{
	uint8_t code[PATCH_SIZE];

	return stub->trampoline &&
	       procmem_read_code(&space->memory, stub->function, code,
				 sizeof(code)) == sizeof(code) &&
	       leads_to(stub, code) &&
	       patch_adopt(space, stub->function, stub->before, code);
}
