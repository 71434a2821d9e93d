/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "stack/idset.h"
#include "stack/private.h"

/* Stacks that somebody else has walked over, and what that takes. */

/*
 * Programs come by the same stacks again and again: one that was seen a while
 * ago isn't put together frame by frame.
 */
#define KNOWN_STACKS 8192

static struct known_stack *known_stack(struct unwind_space *own, uint64_t hash)
{
	if (!own->known)
		own->known = xcalloc(KNOWN_STACKS, sizeof(*own->known));
	return &own->known[hash % KNOWN_STACKS];
}

static uint64_t hash_of(const taddr_t *addresses, unsigned count, bool complete)
{
	uint64_t hash = idset_mix((uint64_t)count << 1 | complete);
	unsigned i;

	for (i = 0; i < count; i++) {
		hash = (hash ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return idset_mix(hash);
}

static stack_id put_together(struct unwinder *unwinder,
			     struct unwind_space *own, const taddr_t *addresses,
			     unsigned count, enum stack_end end,
			     unsigned *by_pointer_ret)
{
	enum frame_method method = FRAME_ENTRY;
	unsigned i;

	*by_pointer_ret = 0;
	for (i = 0; i < count; i++) {
		struct code_site *site = site_find(own, own->space->memory.pid,
						   addresses[i], false);

		if (!site->code)
			return unwind_finish(unwinder, i, STACK_BROKEN);
		unwinder->frames[i] =
			unwind_frame_number(unwinder, site, method);
		*by_pointer_ret += method == FRAME_POINTER;
		method = site->row ? FRAME_CFI : FRAME_POINTER;
	}
	return unwind_finish(unwinder, count, end);
}

struct unwind_seen unwind_addresses(struct unwinder *unwinder,
				    struct space *space,
				    const taddr_t *addresses, unsigned count,
				    bool complete)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	const uint64_t hash = hash_of(addresses, count, complete);
	struct known_stack *known = known_stack(own, hash);
	struct unwind_seen *seen = &known->seen;

	if (count > UNWIND_DEPTH_MAX)
		count = UNWIND_DEPTH_MAX;
	if (seen->stack && known->hash == hash) {
		(void)unwind_again(unwinder, seen);
		return *seen;
	}
	seen->stack = put_together(unwinder, own, addresses, count,
				   complete ? STACK_COMPLETE : STACK_CUT,
				   &seen->by_pointer);
	known->hash = hash;
	seen->depth = stacks_depth(unwinder->stacks, seen->stack);
	seen->end = stacks_end(unwinder->stacks, seen->stack);
	return *seen;
}

static bool is_plain(const struct saved_place *place)
{
	return place->kind == PLACE_MEMORY && place->base == BASE_CFA;
}

static bool set_fp(const struct unwind_row *row, unsigned fp,
		   struct unwind_rule *ret)
{
	unsigned i;

	for (i = 0; i < row->count; i++) {
		const struct saved_place *place = &row->places[i];

		if (place->reg != fp)
			continue;
		ret->fp_saved = is_plain(place);
		ret->fp_unknown = place->kind == PLACE_UNKNOWN;
		ret->fp_offset = place->offset;
		return ret->fp_saved || ret->fp_unknown;
	}
	return true;
}

/* What fits into the agent's rows: see agent_rule(). */
static bool is_near(const struct unwind_rule *rule)
{
	return rule->fp_offset > -(1 << 23) && rule->fp_offset < 1 << 23;
}

static bool make_rule(const struct unwind_row *row,
		      const struct dwarf_arch *dwarf, unsigned word,
		      struct unwind_rule *ret)
{
	const struct saved_place *address = &row->return_address;

	if (row->is_signal_frame || row->is_unlearned)
		return false;
	ret->outermost = row->is_outermost;
	if (ret->outermost)
		return true;
	ret->by_fp = row->cfa_base == dwarf->fp;
	ret->in_memory = row->cfa_in_memory;
	ret->offset = row->cfa_offset;
	return (ret->by_fp || row->cfa_base == dwarf->sp) && !row->cfa_behind &&
	       is_plain(address) && address->offset == -(int32_t)word &&
	       set_fp(row, dwarf->fp, ret) && is_near(ret);
}

bool unwind_rule(struct unwinder *unwinder, struct space *space,
		 taddr_t address, struct unwind_rule *ret)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	struct code_site *site =
		site_find(own, space->memory.pid, address, false);

	*ret = (struct unwind_rule){ 0 };
	if (!site->code || site->is_signal_return)
		return false;
	ret->outermost = !site->row && site->is_outermost;
	/* Where a goroutine begins nothing is called: its chain ends there. */
	ret->may_switch = site->may_switch;
	ret->by_chain =
		!site->row && !site->is_outermost &&
		(site->may_switch || site_follows_call(own, site, address));
	return ret->outermost || ret->by_chain ||
	       (site->row && make_rule(site->row, space->arch->dwarf,
				       space->arch->word_size, ret));
}

unsigned unwind_last(const struct unwinder *unwinder, const taddr_t **ret)
{
	/* The first is where the function begins. */
	*ret = unwinder->addresses + 1;
	return unwinder->address_count ? unwinder->address_count - 1 : 0;
}

void unwind_last_forget(struct unwinder *unwinder)
{
	unwinder->address_count = 0;
	unwinder->walk.switched = unwinder->walk.goroutine = 0;
}

taddr_t unwind_last_switch(const struct unwinder *unwinder)
{
	return unwinder->walk.switched;
}

taddr_t unwind_last_goroutine(const struct unwinder *unwinder)
{
	return unwinder->walk.goroutine;
}
