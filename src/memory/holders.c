/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/holders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"

/* A longer chain is cut at the root's side. */
#define LINKS_MAX 64

/* Ways of blocks that are kept apart. */
#define CHAINS_MAX 4096

struct holder_search {
	const struct leaks *leaks;
	struct block_names *names;
	const struct owners *owners;
	struct chain_entry *chains;
	uint64_t *own_bytes; /* by owner */
	uint64_t bytes;
	struct page_sums pages;
	size_t run; /* of the picture */
};

struct chain_entry {
	char *key; /* the names of its links */
	struct holder_chain chain;
	UT_hash_handle hh;
};

/* ---- chains ---- */

static char *block_name(struct holder_search *search, const struct block *block,
			bool *nameless_ret)
{
	const char *class = block_names_class(search->names, block);
	char *text, *name;

	*nameless_ret = false;
	if (class)
		return xstrdup(class);
	text = block_names_text(search->names, block);
	name = text ? xasprintf("\"%s\"", text) :
		      xasprintf("%" PRIu64 " bytes", block_usable(block));
	*nameless_ret = !text;
	free(text);
	return name;
}

/* From the block to the root; turned round afterwards. */
static struct holder_chain follow(struct holder_search *search,
				  const struct block *block)
{
	const struct leaks *leaks = search->leaks;
	struct holder_chain chain = {
		.links = xcalloc(LINKS_MAX, sizeof(*chain.links)),
		.kind = block->mark,
	};
	uint64_t offset = 0;

	while (block && chain.count < LINKS_MAX - 1) {
		const taddr_t where =
			leaks->reach.ways[block - leaks->glibc.blocks.list];
		struct holder_link *link = &chain.links[chain.count++];

		*link = (struct holder_link){
			.block = block->address,
			.offset = offset,
			.where = block->address + offset,
		};
		link->name = block_name(search, block, &link->nameless);
		block = blocks_around(&leaks->glibc.blocks, where);
		if (block) {
			offset = where - block->address;
			continue;
		}
		chain.links[chain.count++] = (struct holder_link){
			.where = where,
			.name = xstrdup(
				block_names_place(search->names, where)),
		};
	}
	for (size_t i = 0; i < chain.count / 2; i++) {
		const struct holder_link link = chain.links[i];

		chain.links[i] = chain.links[chain.count - 1 - i];
		chain.links[chain.count - 1 - i] = link;
	}
	return chain;
}

static void free_chain(struct holder_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++) {
		free(chain->links[i].name);
		free(chain->links[i].members);
	}
	free(chain->links);
}

/* A list's tenth element is held as its ninth is: runs of one name are one. */
static char *key_of(const struct holder_chain *chain)
{
	struct strbuf key = { 0 };

	for (size_t i = 0; i < chain->count; i++)
		if (!i ||
		    strcmp(chain->links[i].name, chain->links[i - 1].name) != 0)
			strbuf_printf(&key, "%s\n", chain->links[i].name);
	if (!key.text)
		strbuf_puts(&key, "");
	return key.text;
}

static void count_own(struct holder_search *search, const struct block *block)
{
	const size_t index = block - search->leaks->glibc.blocks.list;
	const struct page_sums pages =
		leaks_pages(search->leaks, block, &search->run);

	page_sums_add(&search->pages, &pages);
	search->bytes += block_usable(block);
	search->own_bytes[search->owners->of[index]] += block_usable(block);
}

/* 0 stands for those without an owner. */
static void take_owner(const struct holder_search *search, struct holders *ret)
{
	const struct owners *owners = search->owners;
	size_t most = 0;

	for (size_t i = 1; i < owners->count; i++)
		if (search->own_bytes[i] > search->own_bytes[most] || !most)
			most = i;
	if (!most || !search->own_bytes[most])
		return;
	ret->owner = xstrdup(owners->names[most]);
	ret->own_bytes = search->own_bytes[most];
}

static void add(struct holder_search *search, const struct block *block)
{
	struct holder_chain chain = { .kind = block->mark };
	struct chain_entry *entry;
	char *key;

	count_own(search, block);
	if (block->mark == REACH_REACHED || block->mark == REACH_POSSIBLE)
		chain = follow(search, block);
	key = key_of(&chain);
	HASH_FIND_STR(search->chains, key, entry);
	if (!entry && HASH_COUNT(search->chains) < CHAINS_MAX) {
		entry = xcalloc(1, sizeof(*entry));
		entry->key = key;
		entry->chain = chain;
		HASH_ADD_KEYPTR(hh, search->chains, entry->key, strlen(key),
				entry);
	} else {
		free(key);
		free_chain(&chain);
	}
	if (!entry)
		return;
	entry->chain.blocks++;
	entry->chain.bytes += block_usable(block);
}

/* ---- types and members ---- */

static void set_type(struct holder_link *link, const char *type)
{
	if (!type || !link->nameless)
		return;
	free(link->name);
	link->name = xstrdup(type);
	link->nameless = false;
}

/* What the program calls the blocks, and the pointers in them. */
static void tell_members(struct holder_search *search,
			 struct holder_chain *chain)
{
	const struct blocks *blocks = &search->leaks->glibc.blocks;

	if (!chain->count || chain->links[0].block)
		return;
	for (size_t i = 1; i < chain->count; i++) {
		const struct debug_step step =
			block_names_step(search->names,
					 blocks_at(blocks,
						   chain->links[i].block));

		set_type(&chain->links[i], step.type);
		/* A variable's are in its name. */
		if (i > 1 && step.path && *step.path)
			chain->links[i - 1].members = xstrdup(step.path);
	}
}

/* ---- what was asked for ---- */

static bool is_address(const char *whose, taddr_t *ret)
{
	char *end;

	if (strncmp(whose, "0x", 2) != 0)
		return false;
	*ret = strtoull(whose, &end, 16);
	return !*end;
}

static const char *class_of(struct block_names *names,
			    const struct block *block)
{
	return block_names_class(names, block);
}

/* Of what is no object of a class with a virtual table. */
static const char *type_of(struct block_names *names, const struct block *block)
{
	return block_names_step(names, block).type;
}

static uint64_t add_all(struct holder_search *search, const char *whose,
			const char *(*name_of)(struct block_names *,
					       const struct block *))
{
	const struct blocks *blocks = &search->leaks->glibc.blocks;
	uint64_t count = 0;

	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		const char *name;

		if (!block_is_used(block))
			continue;
		name = name_of(search->names, block);
		if (!name || strcmp(name, whose) != 0)
			continue;
		add(search, block);
		count++;
	}
	return count;
}

static uint64_t add_asked(struct holder_search *search, const char *whose)
{
	taddr_t address;
	uint64_t count;

	if (is_address(whose, &address)) {
		const struct block *block =
			blocks_around(&search->leaks->glibc.blocks, address);

		if (block)
			add(search, block);
		return block != NULL;
	}
	count = add_all(search, whose, class_of);
	return count ? count : add_all(search, whose, type_of);
}

static int compare_chains(const void *a, const void *b)
{
	const struct holder_chain *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->count < y->count ? -1 : x->count > y->count;
}

static void take_chains(struct holder_search *search, struct holders *ret)
{
	struct chain_entry *entry, *next;

	ret->chains =
		xcalloc(HASH_COUNT(search->chains) + 1, sizeof(*ret->chains));
	HASH_ITER(hh, search->chains, entry, next) {
		tell_members(search, &entry->chain);
		ret->chains[ret->count++] = entry->chain;
		HASH_DEL(search->chains, entry);
		free(entry->key);
		free(entry);
	}
	qsort(ret->chains, ret->count, sizeof(*ret->chains), compare_chains);
}

int holders_find(const struct leaks *leaks, struct block_names *names,
		 const struct owners *owners, const char *whose,
		 struct holders *ret)
{
	struct holder_search search = {
		.leaks = leaks,
		.names = names,
		.owners = owners,
		.own_bytes =
			xcalloc(owners->count + 1, sizeof(*search.own_bytes)),
	};

	*ret = (struct holders){ .chains = NULL };
	ret->blocks = add_asked(&search, whose);
	ret->bytes = search.bytes;
	ret->pages = search.pages;
	take_chains(&search, ret);
	take_owner(&search, ret);
	ret->curtailed = block_names_is_curtailed(names);
	free(search.own_bytes);
	return ret->blocks ? 0 : -ENOENT;
}

void holders_fini(struct holders *holders)
{
	for (size_t i = 0; i < holders->count; i++)
		free_chain(&holders->chains[i]);
	free(holders->chains);
	free(holders->owner);
	*holders = (struct holders){ .chains = NULL };
}
