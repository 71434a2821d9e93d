/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/remains.h"

#include <inttypes.h>
#include <string.h>

#include "agent/patches.h"
#include "agent/returns.h"
#include "agent/slots.h"
#include "agent/stub.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/patch.h"

/* So many are looked at: there is one for each build that was ever killed. */
#define AGENTS_MAX 64

static bool is_agents(const struct procfs_mapping *mapping)
{
	return mapping->shared && mapping->start >= AGENT_SHARED_OFFSET &&
	       remains_is_name(mapping->path);
}

uint64_t remains_size_before(void)
{
	return AGENT_SHARED_OFFSET;
}

taddr_t remains_find(const struct space *space, taddr_t after)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(space->memory.pid);
	taddr_t base = 0;

	while (maps && !base && procfs_maps_next(maps, mapping))
		if (is_agents(mapping) &&
		    mapping->start - AGENT_SHARED_OFFSET > after)
			base = mapping->start - AGENT_SHARED_OFFSET;
	if (maps)
		fclose(maps);
	return base;
}

bool remains_is_whole(const struct space *space, taddr_t base, uint64_t size)
{
	struct procfs_mapping *mapping CLEANUP(xfree_cleanup) =
		xmalloc(sizeof(*mapping));
	const taddr_t shared = base + AGENT_SHARED_OFFSET;

	return procfs_find_mapping(space->memory.pid, shared, mapping) &&
	       is_agents(mapping) && mapping->start == shared &&
	       mapping->end == shared + size;
}

static bool is_known(struct space *space, taddr_t base,
		     struct agent_header *ret)
{
	return procmem_read_code(&space->memory, base, ret, sizeof(*ret)) ==
		       sizeof(*ret) &&
	       ret->magic == AGENT_MAGIC && ret->version == AGENT_VERSION;
}

/*
 * Who has opened it is dead, and so may its guardian be: from here on no return
 * address is replaced. Where there is no 1 there is something else.
 */
static void shut_gate(struct space *space, taddr_t base)
{
	const taddr_t on =
		base + AGENT_GATE_OFFSET + offsetof(struct agent_gate, on);
	uint64_t word = 0;

	if (procmem_read_code(&space->memory, on, &word, sizeof(word)) !=
		    sizeof(word) ||
	    word != 1)
		return;
	word = 0;
	if (procmem_write_code(&space->memory, on, &word, sizeof(word)))
		return; /* the process is gone */
}

/* Whether calls will still return there: who walks over stacks must know. */
static bool is_awaited(struct space *space, taddr_t base,
		       const struct agent_header *header)
{
	struct returns returns;

	returns_init(&returns, space, base, header->back);
	return returns_outstanding(&returns);
}

/* An agent that was left, and those of its stubs to which something may still lead. */
struct remains {
	struct space *space;
	taddr_t base;
	bool awaited;
	size_t count;
	struct agent_stub stubs[AGENT_STUBS];
};

static bool may_be_mended(const struct remains *remains, size_t stub)
{
	return !remains->awaited ||
	       !(remains->stubs[stub].failure & AGENT_WALKS);
}

/* What leads to its stubs is put back. Returns how much. */
typedef size_t mender(struct remains *remains);

static size_t mend_agent(struct space *space, taddr_t base, mender *mend)
{
	struct remains remains = { .space = space, .base = base };
	struct agent_header header;
	const size_t size = sizeof(remains.stubs);

	if (!is_known(space, base, &header) ||
	    procmem_read_code(&space->memory, base + AGENT_STUBS_OFFSET,
			      remains.stubs, size) != size)
		return 0;
	shut_gate(space, base);
	remains.awaited = is_awaited(space, base, &header);
	while (remains.count < AGENT_STUBS && remains.stubs[remains.count].used)
		remains.count++;
	return mend(&remains);
}

static size_t mend_all(struct space *space, mender *mend, const char *what)
{
	taddr_t base = 0;
	size_t done = 0;
	unsigned i;

	for (i = 0; i < AGENTS_MAX; i++) {
		base = remains_find(space, base);
		if (!base)
			break;
		done += mend_agent(space, base, mend);
	}
	if (done)
		diag(DIAG_NOTE, DIAG_TRAP,
		     "process %d had %zu %s of a calltrap that was killed: "
		     "repaired",
		     (int)space->memory.pid, done, what);
	return done;
}

static size_t mend_code(struct remains *remains)
{
	size_t i, done = 0;

	for (i = 0; i < remains->count; i++)
		if (may_be_mended(remains, i))
			done += patches_adopt(remains->space,
					      &remains->stubs[i]);
	return done;
}

size_t remains_repair_code(struct space *space)
{
	const size_t done = mend_all(space, mend_code, "functions with a jump");

	if (done)
		patch_restore_adopted(space);
	return done;
}

/* A slot leads to the stub, or past it to the copy. */
static taddr_t original_of(void *context, taddr_t found)
{
	const struct remains *remains = context;
	const taddr_t offset = found - stub_address(remains->base, 0);
	const taddr_t stub = offset / AGENT_STUB_SIZE;
	const taddr_t within = offset % AGENT_STUB_SIZE;

	if (stub >= remains->count || !may_be_mended(remains, stub) ||
	    (within && within != offsetof(struct agent_stub, copy)))
		return 0;
	return remains->stubs[stub].function;
}

static size_t mend_slots(struct remains *remains)
{
	return slots_repair(remains->space, original_of, remains);
}

size_t remains_repair(struct space *space)
{
	return mend_all(space, mend_slots, "slots");
}
