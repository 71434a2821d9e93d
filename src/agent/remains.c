/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/remains.h"

#include <inttypes.h>
#include <string.h>

#include "agent/slots.h"
#include "agent/stub.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

/* So many are looked at: there is one for each build that was ever killed. */
#define AGENTS_MAX 64

static bool is_agents(const struct procfs_mapping *mapping)
{
	return mapping->shared && mapping->start >= AGENT_SHARED_OFFSET &&
	       !strncmp(mapping->path, REMAINS_NAME, strlen(REMAINS_NAME));
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

static bool is_known(struct space *space, taddr_t base)
{
	struct agent_header header;

	return procmem_read_code(&space->memory, base, &header,
				 sizeof(header)) == sizeof(header) &&
	       header.magic == AGENT_MAGIC && header.version == AGENT_VERSION;
}

/* What the program's memory says was there is what its file has. */
static bool is_of_file(struct space *space, taddr_t address, uint64_t word)
{
	const struct module *module = module_find(space, address);
	uint64_t original;

	return module && address % sizeof(word) == 0 &&
	       image_read(module->image, address - module->bias, &original,
			  sizeof(original)) == sizeof(original) &&
	       original == word;
}

/* A trap of ours there has taken the jump for what the code is. */
static bool is_trapped(struct space *space, taddr_t word)
{
	taddr_t at;

	for (at = word; at < word + sizeof(uint64_t); at++) {
		const struct trap *trap = trap_find(space, at);

		if (trap && (trap->planted || trap->deferred))
			return true;
	}
	return false;
}

/* Only where the very jump stands that its stub tells of. */
static size_t repair_entry(struct space *space, const struct agent_stub *stub)
{
	uint64_t found;

	if (!stub->patched || is_trapped(space, stub->patched) ||
	    !is_of_file(space, stub->patched, stub->before) ||
	    procmem_read_code(&space->memory, stub->patched, &found,
			      sizeof(found)) != sizeof(found) ||
	    found != stub->after)
		return 0;
	return !procmem_write_code(&space->memory, stub->patched, &stub->before,
				   sizeof(stub->before));
}

static size_t repair_agent(struct space *space, taddr_t base)
{
	struct agent_stub stubs[AGENT_STUBS];
	size_t i, done = 0;

	if (!is_known(space, base) ||
	    procmem_read_code(&space->memory, base + AGENT_STUBS_OFFSET, stubs,
			      sizeof(stubs)) != sizeof(stubs))
		return 0;
	for (i = 0; i < AGENT_STUBS && stubs[i].used; i++) {
		done += slots_repair(space, stub_address(base, i),
				     stubs[i].function);
		done += repair_entry(space, &stubs[i]);
	}
	return done;
}

size_t remains_repair(struct space *space)
{
	taddr_t base = 0;
	size_t done = 0;
	unsigned i;

	for (i = 0; i < AGENTS_MAX; i++) {
		base = remains_find(space, base);
		if (!base)
			break;
		done += repair_agent(space, base);
	}
	if (done)
		diag(DIAG_NOTE, DIAG_TRAP,
		     "process %d had %zu slots or jumps of a calltrap that was "
		     "killed: repaired",
		     (int)space->memory.pid, done);
	return done;
}
