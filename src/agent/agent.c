/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/private.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/slots.h"
#include "base/clock.h"
#include "base/diag.h"

/* How old the last sign of life may be. */
#define PATIENCE NS_PER_SECOND

void agent_init(struct agent *agent, struct space *space, uint64_t mode)
{
	*agent = (struct agent){
		.space = space,
		.mode = mode,
		.shared.fd = -1,
		.note = -1,
	};
	if (!ticks_are_steady()) {
		agent->state = AGENT_REFUSED;
		agent->reason = "the processor's clock isn't steady";
	}
	errand_keep_room(space, agent->state == AGENT_OUTSIDE);
}

void agent_fini(struct agent *agent)
{
	shared_close(&agent->shared);
	if (agent->space->replaced == &agent->returns.replaced)
		agent->space->replaced = NULL;
	free(agent->slots);
	agent->slots = NULL;
	agent->slot_count = agent->slot_room = 0;
}

int agent_write(struct agent *agent, taddr_t address, const void *bytes,
		size_t size)
{
	return procmem_write_code(&agent->space->memory, address, bytes, size);
}

bool agent_read(struct agent *agent, taddr_t address, void *ret, size_t size)
{
	return procmem_read_code(&agent->space->memory, address, ret, size) ==
	       size;
}

int agent_write_gate(struct agent *agent, size_t offset, uint64_t value)
{
	return agent_write(agent, agent->base + AGENT_GATE_OFFSET + offset,
			   &value, sizeof(value));
}

bool agent_read_gate(struct agent *agent, struct agent_gate *ret)
{
	return agent_read(agent, agent->base + AGENT_GATE_OFFSET, ret,
			  sizeof(*ret));
}

bool agent_refuse(struct agent *agent, const char *reason)
{
	agent->state = AGENT_REFUSED;
	agent->reason = reason;
	errand_keep_room(agent->space, false);
	diag_debug(DIAG_TRAP, "agent: not in process %d: %s",
		   (int)agent->space->memory.pid, reason);
	return false;
}

uint64_t agent_addresses(void)
{
	return AGENT_SHARED_OFFSET + shared_size();
}

bool agent_has_code(const struct agent *agent, taddr_t address)
{
	return (agent->base && address - agent->base < agent_addresses()) ||
	       scratch_is_guest(agent->space, address);
}

uint64_t agent_code_bytes(const struct agent *agent)
{
	return AGENT_GATE_OFFSET + AGENT_GATE_SIZE + AGENT_KEPT_SIZE +
	       (uint64_t)agent->page_count * AGENT_PAGE_SIZE;
}

void agent_retire(struct agent *agent)
{
	agent->retired = true;
	slots_restore(agent);
}

void agent_set_rate(struct agent *agent, unsigned rate)
{
	agent->rate = rate;
	if (agent->state == AGENT_INSIDE)
		(void)AGENT_WRITE_GATE(agent, rate, rate);
}

void agent_set_detail(struct agent *agent, uint64_t capture_bytes,
		      unsigned depth)
{
	agent->capture_bytes = capture_bytes;
	agent->depth = depth;
	if (agent->state == AGENT_INSIDE)
		(void)(AGENT_WRITE_GATE(agent, capture_bytes, capture_bytes) |
		       AGENT_WRITE_GATE(agent, depth, depth));
}

static int open_gate(struct agent *agent, const struct ticks *ticks)
{
	int err;

	shared_beat(&agent->shared);
	agent->since = ticks_now();
	err = AGENT_WRITE_GATE(agent, mode, agent->mode) |
	      AGENT_WRITE_GATE(agent, patience, ticks_in(ticks, PATIENCE)) |
	      AGENT_WRITE_GATE(agent, blocks, shared_blocks_offset()) |
	      AGENT_WRITE_GATE(agent, block_size, shared_block_size()) |
	      AGENT_WRITE_GATE(agent, ring_words, SHARED_RING_WORDS) |
	      AGENT_WRITE_GATE(agent, errno_offset,
			       (uint64_t)agent->errno_offset) |
	      AGENT_WRITE_GATE(agent, tid_offset, (uint64_t)agent->tid_offset) |
	      AGENT_WRITE_GATE(agent, capture_bytes, agent->capture_bytes) |
	      AGENT_WRITE_GATE(agent, depth, agent->depth) |
	      AGENT_WRITE_GATE(agent, mean, agent->mean) |
	      AGENT_WRITE_GATE(agent, rate, agent->rate) |
	      AGENT_WRITE_GATE(agent, since, agent->since);
	if (!err) {
		agent->blind = shared_closings(&agent->shared);
		agent->note =
			guardian_note_gate(agent->space->tracer->guardian,
					   space_guard(agent->space),
					   agent->base + AGENT_GATE_OFFSET +
						   offsetof(struct agent_gate,
							    on));
		err = AGENT_WRITE_GATE(agent, on, 1);
	}
	agent->open = !err;
	return err ? -EIO : 0;
}

/* An old one that does the same, or the next that is free. */
static int find_stub(const struct agent *agent,
		     const struct stub_config *config, struct agent_stub *ret)
{
	struct stub_config own = *config;

	for (own.index = 0; own.index < AGENT_STUBS; own.index++) {
		int err;

		if (agent->in_use[own.index])
			continue;
		own.base = agent->base;
		err = stub_make(&own, ret);
		if (err)
			return err;
		if (own.index >= agent->stub_count ||
		    stub_equals(ret, &agent->stubs[own.index]))
			return (int)own.index;
	}
	return -ENOSPC;
}

/* The way on of an earlier one may have been its trampoline's. */
static int use_again(struct agent *agent, int index,
		     const struct agent_stub *stub)
{
	struct agent_stub *own = &agent->stubs[index];
	const taddr_t at = stub_address(agent->base, index);

	own->original = stub->original;
	own->door = stub->door;
	return agent_write(agent, at + offsetof(struct agent_stub, original),
			   &own->original, sizeof(own->original)) |
	       agent_write(agent, at + offsetof(struct agent_stub, door),
			   &own->door, sizeof(own->door));
}

static int add_stub(struct agent *agent, int index,
		    const struct agent_stub *stub)
{
	int err;

	if ((unsigned)index < agent->stub_count)
		return use_again(agent, index, stub);
	err = agent_write(agent, stub_address(agent->base, index), stub,
			  sizeof(*stub));
	if (err)
		return err;
	agent->stubs[index] = *stub;
	agent->stub_count = index + 1;
	return 0;
}

int agent_make_stub(struct agent *agent, const struct stub_config *config,
		    const struct ticks *ticks)
{
	struct agent_stub stub;
	int index = agent->retired ? -ENOTSUP : find_stub(agent, config, &stub);
	int err;

	if (index < 0)
		return index;
	err = add_stub(agent, index, &stub);
	if (!err && agent->shared.stubs < agent->stub_count)
		err = shared_prepare(&agent->shared, agent->stub_count);
	if (!err && !agent->open)
		err = open_gate(agent, ticks);
	if (err)
		return err;
	agent->in_use[index] = true;
	return index;
}

void agent_release(struct agent *agent, unsigned stub)
{
	agent->in_use[stub] = false;
}

int agent_catch(struct agent *agent, const char *name,
		const struct stub_config *config, const struct ticks *ticks)
{
	const int index = agent_make_stub(agent, config, ticks);

	if (index >= 0)
		(void)agent_find_slots(agent, name, (unsigned)index);
	return index;
}

taddr_t agent_hook_of(const struct agent *agent, unsigned stub)
{
	return stub_address(agent->base, stub);
}

bool agent_read_slot(struct agent *agent, taddr_t slot, taddr_t *ret)
{
	return agent_read(agent, slot, ret, sizeof(*ret));
}

bool agent_hook_slot(struct agent *agent, taddr_t slot, unsigned stub)
{
	const struct agent_slot wanted = {
		.address = slot,
		.original = agent->stubs[stub].function,
		.hook = agent_hook_of(agent, stub),
	};

	return !agent->retired && (slots_hook_one(agent, &wanted) ||
				   slots_hook_again(agent, &wanted));
}

int agent_open_door(struct agent *agent, unsigned stub, struct trap_owner *door)
{
	return trap_plant(agent->space, stub_door(agent->base, stub), door);
}

void agent_shut_door(struct agent *agent, unsigned stub,
		     struct trap_owner *door)
{
	trap_unplant(agent->space, stub_door(agent->base, stub), door);
}

size_t agent_find_slots(struct agent *agent, const char *name, unsigned stub)
{
	const struct agent_slot wanted = {
		.original = agent->stubs[stub].function,
		.hook = stub_address(agent->base, stub),
	};

	return agent->retired ? 0 : slots_hook(agent, name, &wanted);
}

taddr_t agent_way_past(const struct agent *agent, unsigned stub)
{
	const taddr_t copy = stub_address(agent->base, stub) +
			     offsetof(struct agent_stub, copy);

	return agent->stubs[stub].original == copy ? copy : 0;
}

bool agent_lead_past(struct agent *agent, taddr_t slot, unsigned stub)
{
	const struct agent_slot wanted = {
		.address = slot,
		.original = agent->stubs[stub].function,
		.hook = agent_way_past(agent, stub),
	};

	return !agent->retired && wanted.hook && slots_hook_one(agent, &wanted);
}

bool agent_has_slots(const struct agent *agent, unsigned stub)
{
	const taddr_t hook = stub_address(agent->base, stub);
	size_t i;

	for (i = 0; i < agent->slot_count; i++)
		if (agent->slots[i].hook == hook)
			return true;
	return false;
}

void agent_forget_range(struct agent *agent, taddr_t low, taddr_t high)
{
	size_t i, kept = 0;

	for (i = 0; i < agent->slot_count; i++)
		if (agent->slots[i].address < low ||
		    agent->slots[i].address >= high)
			agent->slots[kept++] = agent->slots[i];
	agent->slot_count = kept;
}

bool agent_beat(struct agent *agent, const struct ticks *ticks)
{
	struct agent_gate gate;

	if (agent->state != AGENT_INSIDE || !agent->open)
		return true;
	shared_beat(&agent->shared);
	if (!agent_read_gate(agent, &gate) || gate.on)
		return true;
	agent->blind = shared_closings(&agent->shared);
	/* Who has returned meanwhile hasn't said so. */
	if (agent->mode & AGENT_RECORDS)
		shared_nests_forget(&agent->shared);
	(void)AGENT_WRITE_GATE(agent, patience, ticks_in(ticks, PATIENCE));
	(void)AGENT_WRITE_GATE(agent, on, 1);
	return false;
}

void agent_live(struct agent *agent)
{
	if (agent->state == AGENT_INSIDE && agent->open)
		shared_live(&agent->shared);
}

void agent_leave_copy(const struct agent *agent, struct space *copy)
{
	slots_restore_copy(agent, copy);
}

void agent_call_off(struct agent *agent)
{
	const taddr_t turn =
		agent->base + offsetof(struct agent_header, boot_turn);
	uint64_t next;

	if (!agent_read(agent, turn, &next, sizeof(next)))
		return;
	next = (next + 1) % AGENT_BOOTS;
	if (agent_write(agent, turn, &next, sizeof(next)))
		diag_debug(DIAG_TRAP, "agent: a descriptor may stay open");
}

bool agent_is_on_the_way(const struct agent *agent)
{
	return agent->state == AGENT_RESERVING ||
	       agent->state == AGENT_MAPPING || agent->state == AGENT_CLOSING;
}

void agent_leave(struct agent *agent)
{
	if (agent->state == AGENT_MAPPING)
		agent_call_off(agent);
	if (agent->state != AGENT_INSIDE)
		return;
	slots_restore(agent);
	(void)AGENT_WRITE_GATE(agent, on, 0);
	agent_unguard(agent);
	agent->open = false;
	agent->state = AGENT_LEFT;
}

void agent_unguard(struct agent *agent)
{
	guardian_unnote(agent->space->tracer->guardian, agent->note);
	agent->note = -1;
}
