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
	uint64_t hash = 0;
	unsigned i;

	/* A sum: so that no frame waits for the hash of those before. */
	for (i = 0; i < count; i++) {
		uint64_t mixed =
			addresses[i] + i * UINT64_C(0xbf58476d1ce4e5b9);

		mixed *= UINT64_C(0x9e3779b97f4a7c15);
		mixed = (mixed ^ mixed >> 32) * UINT64_C(0x94d049bb133111eb);
		hash += mixed ^ mixed >> 29;
	}
	return idset_mix(hash ^ (uint64_t)count << 1 ^ complete);
}

/*
 * The one that was put together last. Most have the outer frames of the one before:
 * what these make is known. All from the outermost on.
 */
struct last_stack {
	bool complete;
	unsigned count; /* 0: there is none */
	taddr_t addresses[UNWIND_DEPTH_MAX];
	stack_id stacks[UNWIND_DEPTH_MAX];     /* up to that frame */
	unsigned by_pointer[UNWIND_DEPTH_MAX]; /* so many of its frames */
};

/*
 * How many outer frames are those of the last one. How a frame was found is decided
 * by the next inner one, so that one must be the same, too.
 */
static unsigned same_outer(const struct last_stack *last,
			   const taddr_t *addresses, unsigned count,
			   bool complete)
{
	unsigned same = 0;

	if (last->complete != complete)
		return 0;
	while (same < count && same < last->count &&
	       addresses[count - 1 - same] == last->addresses[same])
		same++;
	return same ? same - 1 : 0;
}

/* The unwinder's frames; returns how many there are, up to what is no code. */
static unsigned find_frames(struct unwinder *unwinder, struct unwind_space *own,
			    const taddr_t *addresses, unsigned count,
			    bool *by_pointer)
{
	enum frame_method method = FRAME_ENTRY;
	unsigned i;

	for (i = 0; i < count; i++) {
		struct code_site *site = site_find(own, own->space->memory.pid,
						   addresses[i], false);

		if (!site->code)
			break;
		unwinder->frames[i] =
			unwind_frame_number(unwinder, site, method);
		by_pointer[i] = method == FRAME_POINTER;
		method = site->row ? FRAME_CFI : FRAME_POINTER;
	}
	return i;
}

/* Of frames that nobody looks for. None of them is the innermost. */
static void count_outer(struct unwinder *unwinder,
			const struct last_stack *last, unsigned outer)
{
	const unsigned by_pointer = outer ? last->by_pointer[outer - 1] : 0;

	unwinder->counts.frames[FRAME_POINTER] += by_pointer;
	unwinder->counts.frames[FRAME_CFI] += outer - by_pointer;
}

/* On to so many outer frames of the last one. */
static void add_inner(struct unwinder *unwinder, struct last_stack *last,
		      const taddr_t *addresses, unsigned inner, unsigned outer,
		      const bool *by_pointer)
{
	stack_id stack = outer ? last->stacks[outer - 1] :
				 stacks_begin(last->complete ? STACK_COMPLETE :
							       STACK_CUT);
	unsigned pointers = outer ? last->by_pointer[outer - 1] : 0;

	for (last->count = outer; inner--; last->count++) {
		stack = stacks_extend(unwinder->stacks, stack,
				      unwinder->frames[inner]);
		pointers += by_pointer[inner];
		last->addresses[last->count] = addresses[inner];
		last->stacks[last->count] = stack;
		last->by_pointer[last->count] = pointers;
	}
}

static struct unwind_seen broken(struct unwinder *unwinder,
				 const bool *by_pointer, unsigned count)
{
	struct unwind_seen seen = {
		.stack = unwind_finish(unwinder, count, STACK_BROKEN),
		.depth = count,
		.end = STACK_BROKEN,
	};

	while (count--)
		seen.by_pointer += by_pointer[count];
	return seen;
}

static struct unwind_seen put_together(struct unwinder *unwinder,
				       struct unwind_space *own,
				       const taddr_t *addresses, unsigned count,
				       bool complete)
{
	struct last_stack *last = own->last;
	const unsigned outer = same_outer(last, addresses, count, complete);
	bool by_pointer[UNWIND_DEPTH_MAX];
	const unsigned found = find_frames(unwinder, own, addresses,
					   count - outer, by_pointer);

	if (!count || found < count - outer)
		return broken(unwinder, by_pointer, found);
	last->complete = complete;
	count_outer(unwinder, last, outer);
	add_inner(unwinder, last, addresses, found, outer, by_pointer);
	unwind_count(unwinder, complete ? STACK_COMPLETE : STACK_CUT);
	return (struct unwind_seen){
		.stack = last->stacks[count - 1],
		.depth = count,
		.by_pointer = last->by_pointer[count - 1],
		.end = complete ? STACK_COMPLETE : STACK_CUT,
	};
}

struct unwind_seen unwind_addresses(struct unwinder *unwinder,
				    struct space *space,
				    const taddr_t *addresses, unsigned count,
				    bool complete)
{
	struct unwind_space *own = unwind_space_get(unwinder, space);
	const uint64_t hash = hash_of(addresses, count, complete);
	struct known_stack *known = known_stack(own, hash);

	if (count > UNWIND_DEPTH_MAX)
		count = UNWIND_DEPTH_MAX;
	if (known->seen.stack && known->hash == hash) {
		(void)unwind_again(unwinder, &known->seen);
		return known->seen;
	}
	if (!own->last)
		own->last = xcalloc(1, sizeof(*own->last));
	known->seen = put_together(unwinder, own, addresses, count, complete);
	known->hash = hash;
	return known->seen;
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
