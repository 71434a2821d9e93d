/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "stack/private.h"

/* Stacks that somebody else has walked over, and what that takes. */

stack_id unwind_addresses(struct unwinder *unwinder, struct space *space,
			  const taddr_t *addresses, unsigned count,
			  bool complete)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	unsigned i;

	if (count > UNWIND_DEPTH_MAX)
		count = UNWIND_DEPTH_MAX;
	for (i = 0; i < count; i++) {
		struct code_site *site =
			site_find(own, space->memory.pid, addresses[i], false);

		if (!site->code)
			return unwind_finish(unwinder, i, STACK_BROKEN);
		unwinder->frames[i] =
			unwind_frame_number(unwinder, site,
					    i ? FRAME_CFI : FRAME_ENTRY);
	}
	return unwind_finish(unwinder, count,
			     complete ? STACK_COMPLETE : STACK_CUT);
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
	const struct code_site *site =
		site_find(own, space->memory.pid, address, false);

	*ret = (struct unwind_rule){ 0 };
	if (!site->code || site->is_signal_return)
		return false;
	ret->outermost = !site->row && site->is_outermost;
	return ret->outermost ||
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
}
