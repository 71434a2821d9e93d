/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "memory/object_links.h"
#include "memory/reach_private.h"
#include "memory/root_names.h"

/* Numbers that are no owner's. */
#define NOT_SEEN 0
#define SEVERAL  1
#define FIRST    2

/* Whoever has so many pointers outside of blocks gets no answer: each is named. */
#define WORDS_MAX (1u << 18)

/* A pointer that isn't in a block. */
struct root_word {
	uint32_t owner, block;
};

struct root_words {
	struct root_word *list;
	size_t count, room;
};

struct owner_entry {
	const char *name; /* as root_names has it */
	uint32_t number;
	UT_hash_handle hh;
};

struct owning {
	struct reacher reacher;        /* first: what is found comes with it */
	const struct reach_rule *rule; /* or NULL */
	struct root_names *names;
	struct owner_entry *entries;
	struct owners *result;
	size_t name_room;
	struct root_words words[2]; /* of variables, of threads */
	uint32_t own;               /* whose blocks are looked through */
	bool of_threads; /* these come second, and take nothing away */
	uint32_t first_of_threads;
	bool too_many;
};

static uint32_t number_of(struct owning *owning, taddr_t where)
{
	const char *name = root_names_variable(owning->names, where);
	struct owners *result = owning->result;
	struct owner_entry *entry;

	HASH_FIND_STR(owning->entries, name, entry);
	if (entry)
		return entry->number;
	entry = xcalloc(1, sizeof(*entry));
	entry->name = name;
	result->names = xgrow(result->names, result->count, &owning->name_room,
			      sizeof(*result->names));
	result->names[result->count] = xstrdup(name);
	entry->number = (uint32_t)result->count++;
	HASH_ADD_KEYPTR(hh, owning->entries, entry->name, strlen(name), entry);
	return entry->number;
}

static void found_by_root(struct reacher *reacher, struct block *block,
			  uint64_t pointer, taddr_t where)
{
	struct owning *owning = (struct owning *)reacher;
	struct root_words *words;

	if (!reach_holds(reacher, block, pointer) ||
	    reach_passes_over(owning->rule, block, pointer, where))
		return;
	words = &owning->words[root_names_is_of_thread(owning->names, where)];
	if (words->count >= WORDS_MAX) {
		owning->too_many = true;
		return;
	}
	words->list = xgrow(words->list, words->count, &words->room,
			    sizeof(*words->list));
	words->list[words->count++] =
		(struct root_word){ number_of(owning, where),
				    reach_index(reacher, block) };
}

/* Each block comes into the queue twice at most: with one, and with several. */
static void own(struct owning *owning, uint32_t index, uint32_t number)
{
	uint32_t *of = &owning->result->of[index];

	if (*of == number || *of == SEVERAL)
		return;
	if (owning->of_threads && *of && *of < owning->first_of_threads)
		return;
	*of = *of ? SEVERAL : number;
	reach_push(&owning->reacher,
		   &owning->reacher.glibc->blocks.list[index]);
}

static void found_by_block(struct reacher *reacher, struct block *block,
			   uint64_t pointer, taddr_t where)
{
	struct owning *owning = (struct owning *)reacher;

	if (reach_holds(reacher, block, pointer) &&
	    !reach_passes_over(owning->rule, block, pointer, where))
		own(owning, reach_index(reacher, block), owning->own);
}

static void drain(struct owning *owning)
{
	struct reacher *reacher = &owning->reacher;

	while (reacher->head < reacher->tail) {
		const uint32_t index = reacher->queue[reacher->head++];

		owning->own = owning->result->of[index];
		reach_scan_block(reacher, &reacher->glibc->blocks.list[index],
				 found_by_block);
	}
	reacher->head = reacher->tail = 0;
}

static void own_all(struct owning *owning)
{
	for (size_t i = 0; i < ARRAY_SIZE(owning->words); i++) {
		const struct root_words *words = &owning->words[i];

		owning->of_threads = i == 1;
		for (size_t w = 0; w < words->count; w++)
			own(owning, words->list[w].block, words->list[w].owner);
		drain(owning);
	}
}

/* Threads' names come last, so that they are told by their numbers. */
static void renumber_threads(struct owning *owning)
{
	const struct root_words *words = &owning->words[1];
	const size_t before = owning->result->count;
	uint32_t *moved CLEANUP(xfree_cleanup) =
		xcalloc(before + 1, sizeof(*moved));

	owning->first_of_threads = (uint32_t)before;
	for (size_t i = 0; i < words->count; i++) {
		const uint32_t old = words->list[i].owner;
		struct owners *result = owning->result;

		if (!moved[old]) {
			result->names = xgrow(result->names, result->count,
					      &owning->name_room,
					      sizeof(*result->names));
			result->names[result->count] =
				xstrdup(result->names[old]);
			moved[old] = (uint32_t)result->count++;
		}
		words->list[i].owner = moved[old];
	}
}

static void forget_several(struct owners *owners, size_t blocks)
{
	for (size_t i = 0; i < blocks; i++)
		if (owners->of[i] == SEVERAL)
			owners->of[i] = NOT_SEEN;
}

static void free_entries(struct owner_entry *entries)
{
	struct owner_entry *entry, *next;

	HASH_ITER(hh, entries, entry, next) {
		HASH_DEL(entries, entry);
		free(entry);
	}
}

void owners_find(const struct leaks *leaks, struct owners *ret)
{
	struct reach_result unused = { .rings = NULL };
	struct owning owning = {
		.reacher = {
			.picture = &leaks->picture,
			.mappings = &leaks->mappings,
			/* Nothing of it is changed. */
			.glibc = (struct glibc *)&leaks->glibc,
			.result = &unused,
		},
		.rule = object_links_rule(leaks->links),
		.result = ret,
	};
	struct reacher *reacher = &owning.reacher;

	*ret = (struct owners){ .count = FIRST };
	ret->of = xcalloc(leaks->glibc.blocks.count + 1, sizeof(*ret->of));
	ret->names = xcalloc(FIRST, sizeof(*ret->names));
	owning.name_room = FIRST;
	owning.names = root_names_new(leaks);
	finder_init(&reacher->finder, &leaks->glibc);
	reach_scan_roots(reacher, &leaks->freeze, found_by_root);
	renumber_threads(&owning);
	if (!owning.too_many)
		own_all(&owning);
	forget_several(ret, leaks->glibc.blocks.count);
	free_entries(owning.entries);
	root_names_free(owning.names);
	finder_fini(&reacher->finder);
	free(reacher->queue);
	free(owning.words[0].list);
	free(owning.words[1].list);
}

void owners_fini(struct owners *owners)
{
	for (size_t i = 0; i < owners->count && owners->names; i++)
		free(owners->names[i]);
	free(owners->names);
	free(owners->of);
	*owners = (struct owners){ .of = NULL };
}
