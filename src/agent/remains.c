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

/* What leads to the stub at the address is put back. Returns how much. */
typedef size_t mender(struct space *space, taddr_t address,
		      const struct agent_stub *stub);

static size_t mend_agent(struct space *space, taddr_t base, mender *mend)
{
	struct agent_stub stubs[AGENT_STUBS];
	struct agent_header header;
	size_t i, done = 0;
	bool awaited;

	if (!is_known(space, base, &header) ||
	    procmem_read_code(&space->memory, base + AGENT_STUBS_OFFSET, stubs,
			      sizeof(stubs)) != sizeof(stubs))
		return 0;
	shut_gate(space, base);
	awaited = is_awaited(space, base, &header);
	for (i = 0; i < AGENT_STUBS && stubs[i].used; i++)
		if (!awaited || !(stubs[i].failure & AGENT_WALKS))
			done += mend(space, stub_address(base, i), &stubs[i]);
	return done;
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

static size_t mend_code(struct space *space, taddr_t address UNUSED,
			const struct agent_stub *stub)
{
	return patches_adopt(space, stub);
}

size_t remains_repair_code(struct space *space)
{
	const size_t done = mend_all(space, mend_code, "functions with a jump");

	if (done)
		patch_restore_adopted(space);
	return done;
}

static size_t mend_slots(struct space *space, taddr_t address,
			 const struct agent_stub *stub)
{
	return slots_repair(space, address,
			    address + offsetof(struct agent_stub, copy),
			    stub->function);
}

size_t remains_repair(struct space *space)
{
	return mend_all(space, mend_slots, "slots");
}
