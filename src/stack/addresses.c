/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "stack/private.h"

/* Stacks that somebody else has walked over, and what that takes. */

/*
 * What a frame makes of the stack outside, by a hash of all of these (of 64 bits: taken for
 * the same). The trie of all stacks lies all over some MiB, and each of its nodes is found by
 * the one outside: that takes as long as some ten calls. Here all can be fetched at once.
 */
struct stack_edge {
	uint64_t hash;
	stack_id stack; /* STACK_NONE: of nothing */
	bool by_pointer;
};

#define FIRST_EDGES 4096
#define EDGES_MOST  (1u << 18)

/*
 * The one that was put together last. Most have the outer frames of the one before:
 * what these make is known. All from the outermost on.
 */
struct last_stack {
	bool complete;
	unsigned count; /* 0: there is none */
	taddr_t addresses[UNWIND_DEPTH_MAX];
	uint64_t hashes[UNWIND_DEPTH_MAX]; /* up to that frame */
	stack_id stacks[UNWIND_DEPTH_MAX];
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

static struct stack_edge *edge_at(const struct unwind_space *own, uint64_t hash)
{
	return &own->edges[hash & (own->edge_room - 1)];
}

static void make_edges(struct unwind_space *own, size_t room)
{
	struct stack_edge *old = own->edges;
	const size_t count = own->edge_room;

	own->edges = xcalloc(room, sizeof(*own->edges));
	own->edge_room = room;
	own->edge_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!old[i].stack)
			continue;
		*edge_at(own, old[i].hash) = old[i];
		own->edge_count++;
	}
	free(old);
}

static void remember(struct unwind_space *own, const struct stack_edge *edge)
{
	struct stack_edge *there = edge_at(own, edge->hash);

	own->edge_count += !there->stack;
	*there = *edge;
	if (own->edge_count > own->edge_room / 2 && own->edge_room < EDGES_MOST)
		make_edges(own, own->edge_room * 2);
}

/* inner: what it has called, by which it was found; 0: it is the innermost. */
static uint64_t extend_hash(uint64_t outer, taddr_t address, taddr_t inner)
{
	uint64_t hash = (outer ^ address) * UINT64_C(0x9e3779b97f4a7c15);

	hash = ((hash ^ hash >> 32) + inner) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 29;
}

static enum frame_method method_behind(const struct code_site *inner)
{
	return inner->row ? FRAME_CFI : FRAME_POINTER;
}

/* False where either is no code. */
static bool find_edge(struct unwinder *unwinder, struct unwind_space *own,
		      stack_id outer, taddr_t address, taddr_t inner,
		      struct stack_edge *ret)
{
	const pid_t pid = own->space->memory.pid;
	enum frame_method method = FRAME_ENTRY;
	struct code_site *site;

	if (inner) {
		site = site_find(own, pid, inner, false);
		if (!site->code)
			return false;
		method = method_behind(site);
	}
	site = site_find(own, pid, address, false);
	if (!site->code)
		return false;
	ret->by_pointer = method == FRAME_POINTER;
	ret->stack = stacks_extend(unwinder->stacks, outer,
				   unwind_frame_number(unwinder, site, method));
	return true;
}

static taddr_t inner_of(const taddr_t *addresses, unsigned at)
{
	return at ? addresses[at - 1] : 0;
}

/* What is looked at next is fetched, all of it at once. */
static void expect_inner(const struct unwind_space *own,
			 const taddr_t *addresses, unsigned inner,
			 unsigned outer)
{
	struct last_stack *last = own->last;
	uint64_t hash = outer          ? last->hashes[outer - 1] :
			last->complete ? UINT64_C(0x94d049bb133111eb) :
					 0;

	while (inner--) {
		hash = extend_hash(hash, addresses[inner],
				   inner_of(addresses, inner));
		last->hashes[outer++] = hash;
		__builtin_prefetch(edge_at(own, hash), 1);
	}
}

/* On to so many outer frames of the last one; false where one is no code. */
static bool add_inner(struct unwinder *unwinder, struct unwind_space *own,
		      const taddr_t *addresses, unsigned inner, unsigned outer)
{
	struct last_stack *last = own->last;
	stack_id stack = outer ? last->stacks[outer - 1] :
				 stacks_begin(last->complete ? STACK_COMPLETE :
							       STACK_CUT);
	unsigned pointers = outer ? last->by_pointer[outer - 1] : 0;

	expect_inner(own, addresses, inner, outer);
	for (last->count = outer; inner--; last->count++) {
		const taddr_t address = addresses[inner];
		const uint64_t hash = last->hashes[last->count];
		struct stack_edge edge = *edge_at(own, hash);

		if (!edge.stack || edge.hash != hash) {
			if (!find_edge(unwinder, own, stack, address,
				       inner_of(addresses, inner), &edge))
				return false;
			edge.hash = hash;
			remember(own, &edge);
		}
		stack = edge.stack;
		pointers += edge.by_pointer;
		last->addresses[last->count] = address;
		last->stacks[last->count] = stack;
		last->by_pointer[last->count] = pointers;
	}
	return true;
}

/* Up to what is no code. */
static struct unwind_seen broken(struct unwinder *unwinder,
				 struct unwind_space *own,
				 const taddr_t *addresses, unsigned count)
{
	struct unwind_seen seen = { .end = STACK_BROKEN };
	enum frame_method method = FRAME_ENTRY;

	for (; seen.depth < count; seen.depth++) {
		struct code_site *site = site_find(own, own->space->memory.pid,
						   addresses[seen.depth],
						   false);

		if (!site->code)
			break;
		unwinder->frames[seen.depth] =
			unwind_frame_number(unwinder, site, method);
		seen.by_pointer += method == FRAME_POINTER;
		method = method_behind(site);
	}
	seen.stack = unwind_intern(unwinder, seen.depth, STACK_BROKEN);
	return seen;
}

static struct unwind_seen put_together(struct unwinder *unwinder,
				       struct unwind_space *own,
				       const taddr_t *addresses, unsigned count,
				       bool complete)
{
	struct last_stack *last = own->last;
	const unsigned outer = same_outer(last, addresses, count, complete);

	if (!count)
		return broken(unwinder, own, addresses, count);
	last->complete = complete;
	if (!add_inner(unwinder, own, addresses, count - outer, outer))
		return broken(unwinder, own, addresses, count);
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
	struct unwind_seen seen;

	if (count > UNWIND_DEPTH_MAX)
		count = UNWIND_DEPTH_MAX;
	if (!own->last) {
		own->last = xcalloc(1, sizeof(*own->last));
		make_edges(own, FIRST_EDGES);
	}
	seen = put_together(unwinder, own, addresses, count, complete);
	(void)unwind_again(unwinder, &seen);
	return seen;
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
