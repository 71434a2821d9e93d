/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "naming/symbol.h"

/* A function's name, once each. */
struct callee_name {
	UT_hash_handle hh;
	char text[];
};

struct tail_key {
	const struct code *outer, *inner;
	uint64_t outer_address, inner_address;
	const struct callee_name *callee;
	uint64_t exact;
};

struct tail_chain {
	struct tail_key key;
	uint64_t *addresses; /* innermost first */
	size_t count;
	UT_hash_handle hh;
};

/* A task may stand still meanwhile, and others behind it. */
#define PATIENCE NS_PER_SECOND

/* Stacks have most of their frames in common. */
#define RECENT 4096

struct tails {
	struct debuginfo *debuginfo; /* or NULL */
	bool wait;
	uint64_t unfinished; /* answers that were not known yet */
	struct tail_chain *recent[RECENT];
	struct callee_name *callees;
	struct tail_chain *chains;
};

struct tails *tails_new(struct debuginfo *debuginfo)
{
	struct tails *tails = xcalloc(1, sizeof(*tails));

	tails->debuginfo = debuginfo;
	tails->wait = true;
	return tails;
}

void tails_free(struct tails *tails)
{
	struct callee_name *callee, *next_callee;
	struct tail_chain *chain, *next;

	if (!tails)
		return;
	HASH_ITER(hh, tails->chains, chain, next) {
		HASH_DEL(tails->chains, chain);
		free(chain->addresses);
		free(chain);
	}
	HASH_ITER(hh, tails->callees, callee, next_callee) {
		HASH_DEL(tails->callees, callee);
		free(callee);
	}
	free(tails);
}

void tails_wait(struct tails *tails, bool wait)
{
	tails->wait = wait;
}

/* ---- which function runs ---- */

struct tail_goal {
	struct tails *tails;
	struct image *image; /* of the functions on the way */
	/* The one that runs. */
	struct image *inner; /* NULL: … by its name only */
	uint64_t entry;
	const char *name;  /* or NULL */
	uint64_t deadline; /* for what may be asked, all in all */
};

/* Also of hand-written code. */
static int find_goal(struct tails *tails, const struct frame *inner,
		     struct tail_goal *ret)
{
	uint64_t address = inner->address - !frame_is_exact(inner);
	const struct debug_caller *caller;
	const struct symbol *symbol;
	int count;

	ret->inner = inner->code->image;
	if (!ret->inner)
		return -ENOENT;
	count = debuginfo_caller(tails->debuginfo, ret->inner, address,
				 &caller);
	if (count == -EAGAIN)
		return count;
	symbol = symbol_around(ret->inner, address);
	ret->entry = count > 0 ? caller->entry : 0;
	if (!ret->entry && symbol)
		ret->entry = symbol->address;
	if (symbol && symbol->address == ret->entry)
		ret->name = symbol->name;
	return ret->entry ? 0 : -ENOENT;
}

/* Where the image defines it; 0: elsewhere, or nobody knows. */
static uint64_t defined_at(struct image *image, const char *name)
{
	const struct symbol *symbol = image_find_symbol(image, name);
	const struct import *imports;
	size_t count;

	if (!symbol || symbol->kind != SYMBOL_FUNCTION)
		return 0;
	if (symbol->global)
		return symbol->address;
	/* Hidden ones become local; so are others of that name. */
	imports = image_imports(image, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(imports[i].name, name))
			return 0;
	return symbol->address;
}

static bool is_goal_at(const struct tail_goal *goal, uint64_t entry)
{
	if (goal->inner)
		return goal->inner == goal->image && goal->entry == entry;
	return defined_at(goal->image, goal->name) == entry;
}

/* What another image defines. */
static bool is_goal_named(const struct tail_goal *goal, const char *name)
{
	if (goal->inner == goal->image)
		return false;
	if (goal->name && !strcmp(goal->name, name))
		return true;
	return goal->inner && defined_at(goal->inner, name) == goal->entry;
}

static enum tail_step step(void *context, const struct debug_target *target,
			   uint64_t *entry_ret)
{
	const struct tail_goal *goal = context;
	uint64_t entry = 0;

	switch (target->kind) {
	case DEBUG_TARGET_UNKNOWN:
		return TAIL_UNKNOWN;
	case DEBUG_TARGET_ADDRESS:
		entry = target->address;
		break;
	case DEBUG_TARGET_NAME:
		entry = defined_at(goal->image, target->name);
		if (!entry && is_goal_named(goal, target->name))
			return TAIL_ARRIVED;
		break;
	}
	if (!entry)
		return TAIL_UNKNOWN;
	*entry_ret = entry;
	return is_goal_at(goal, entry) ? TAIL_ARRIVED : TAIL_FUNCTION;
}

static int tails_of(void *context, uint64_t entry,
		    const struct debug_tails **ret)
{
	const struct tail_goal *goal = context;

	if (clock_now() > goal->deadline)
		return -ETIMEDOUT;
	return debuginfo_tails(goal->tails->debuginfo, goal->image, entry,
			       goal->tails->wait, ret);
}

/* ---- chains ---- */

/* Calls by name are the most, and hardly ever to anything else. */
static bool is_called_by_name(const struct tail_goal *goal,
			      const struct debug_target *target)
{
	return target->kind == DEBUG_TARGET_NAME && goal->name &&
	       !strcmp(goal->name, target->name);
}

/* The places of what will be shown are to be at hand, too. */
static int prepare(struct tails *tails, struct image *image,
		   const uint64_t *behind, int count)
{
	uint64_t addresses[TAIL_PATH_MAX];

	if (count <= 0 || tails->wait)
		return count;
	for (int i = 0; i < count; i++)
		addresses[i] = behind[i] - 1;
	return debuginfo_prefetch_places(tails->debuginfo, image, addresses,
					 count) ?
		       count :
		       -EAGAIN;
}

/* Outermost first; -EAGAIN: not known yet. */
static int find_chain(struct tails *tails, const struct frame *outer,
		      const struct frame *inner, const char *callee,
		      uint64_t ret[TAIL_PATH_MAX])
{
	struct tail_goal goal = { .tails = tails,
				  .name = callee,
				  .deadline = clock_now() + PATIENCE };
	const struct tail_map map = { tails_of, step, &goal };
	const struct debug_caller *caller;
	struct debug_target target;
	uint64_t from;
	int count;

	goal.image = outer->code->image;
	count = debuginfo_caller(tails->debuginfo, goal.image,
				 outer->address - 1, &caller);
	if (count <= 0)
		return count;
	/* To ask about another image may make room for it. */
	target = caller->target;
	if (target.kind == DEBUG_TARGET_UNKNOWN)
		return 0;
	count = inner ? find_goal(tails, inner, &goal) : 0;
	if (count || is_called_by_name(&goal, &target) ||
	    step(&goal, &target, &from) != TAIL_FUNCTION)
		return count;
	return prepare(tails, goal.image, ret, tail_path_find(&map, from, ret));
}

static const struct callee_name *callee_named(struct tails *tails,
					      const char *name)
{
	struct callee_name *callee;
	size_t length = strlen(name);

	HASH_FIND(hh, tails->callees, name, length, callee);
	if (callee)
		return callee;
	callee = xcalloc(1, sizeof(*callee) + length + 1);
	memcpy(callee->text, name, length);
	HASH_ADD_KEYPTR(hh, tails->callees, callee->text, length, callee);
	return callee;
}

/* Only what unwind tables lead to is certain to be a call. */
static bool is_caller(const struct frame *outer, const struct frame *inner)
{
	if (outer->method != FRAME_ENTRY && outer->method != FRAME_CFI)
		return false;
	return !inner || (inner->method != FRAME_HANDLED &&
			  inner->method != FRAME_GUESSED);
}

static struct tail_key key_of(struct tails *tails, const struct frame *outer,
			      const struct frame *inner, const char *callee)
{
	struct tail_key key = { .outer = outer->code,
				.outer_address = outer->address };

	if (inner) {
		key.inner = inner->code;
		key.inner_address = inner->address;
		key.exact = frame_is_exact(inner);
	} else {
		key.callee = callee_named(tails, callee);
	}
	return key;
}

static size_t place_of(const struct tail_key *key)
{
	uint64_t hash = key->outer_address * 0x9e3779b97f4a7c15u;

	hash ^= key->inner_address * 0x94d049bb133111ebu;
	return (hash >> 40) % RECENT;
}

static struct tail_chain *chain_of(struct tails *tails,
				   const struct tail_key *key)
{
	struct tail_chain **recent = &tails->recent[place_of(key)];
	struct tail_chain *chain = *recent;

	if (chain && !memcmp(&chain->key, key, sizeof(*key)))
		return chain;
	HASH_FIND(hh, tails->chains, key, sizeof(*key), chain);
	if (chain)
		*recent = chain;
	return chain;
}

static struct tail_chain *add_chain(struct tails *tails,
				    const struct tail_key *key, size_t count)
{
	struct tail_chain *chain = xcalloc(1, sizeof(*chain));

	chain->key = *key;
	chain->count = count;
	if (count)
		chain->addresses = xcalloc(count, sizeof(*chain->addresses));
	HASH_ADD(hh, tails->chains, key, sizeof(*key), chain);
	return chain;
}

static const struct tail_chain *make_chain(struct tails *tails,
					   const struct tail_key *key,
					   const struct frame *outer,
					   const struct frame *inner,
					   const char *callee)
{
	uint64_t addresses[TAIL_PATH_MAX];
	struct tail_chain *chain;
	int count = 0;

	if (tails->debuginfo && outer->code->image)
		count = find_chain(tails, outer, inner, callee, addresses);
	if (count == -EAGAIN) {
		tails->unfinished++;
		return NULL;
	}
	chain = add_chain(tails, key, count > 0 ? count : 0);
	for (size_t i = 0; i < chain->count; i++)
		chain->addresses[i] = addresses[chain->count - 1 - i];
	return chain;
}

size_t tails_between(struct tails *tails, const struct frame *outer,
		     const struct frame *inner, const char *callee,
		     struct frame ret[TAIL_PATH_MAX])
{
	const struct tail_chain *chain;
	struct tail_key key;

	if ((!inner && !callee) || !is_caller(outer, inner))
		return 0;
	key = key_of(tails, outer, inner, callee);
	chain = chain_of(tails, &key);
	if (!chain)
		chain = make_chain(tails, &key, outer, inner, callee);
	for (size_t i = 0; chain && i < chain->count; i++)
		ret[i] = (struct frame){ outer->code, chain->addresses[i],
					 FRAME_TAIL };
	return chain ? chain->count : 0;
}

uint64_t tails_unfinished(const struct tails *tails)
{
	return tails->unfinished;
}

bool tails_teach(struct tails *tails, const struct frame *outer,
		 const struct frame *inner, const char *callee,
		 const uint64_t *addresses, size_t count)
{
	const struct tail_key key = key_of(tails, outer, inner, callee);
	struct tail_chain *chain;

	if (count > TAIL_PATH_MAX || chain_of(tails, &key))
		return false;
	chain = add_chain(tails, &key, count);
	if (count)
		memcpy(chain->addresses, addresses, count * sizeof(*addresses));
	return true;
}
