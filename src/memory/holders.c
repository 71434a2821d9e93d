/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/holders.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "image/image.h"
#include "memory/finder.h"
#include "memory/head.h"
#include "sysdeps/linux/procmem.h"
#include "tracee/image_cache.h"

#define WHOLE_PAGES (~UINT64_C(4095))

/* A longer chain is cut at the root's side. */
#define LINKS_MAX 64

/* Ways of blocks that are kept apart. */
#define CHAINS_MAX 4096

struct search {
	const struct leaks *leaks;
	struct finder finder;
	struct heads *heads;
	struct image_cache *images;
	struct chain_entry *chains;
	struct root_name *roots;
};

struct chain_entry {
	char *key; /* the names of its links */
	struct holder_chain chain;
	UT_hash_handle hh;
};

/* ---- names of roots ---- */

struct root_name {
	taddr_t where;
	char *name;
	UT_hash_handle hh;
};

/* The first piece of the file that a place in its data, or .bss, belongs to. */
static const struct mapping *module_of(const struct mappings *mappings,
				       const struct mapping *mapping)
{
	const struct mapping *first = mappings->list;
	uint64_t inode;

	while (mapping > first && !mapping->inode)
		mapping--;
	inode = mapping->inode;
	while (mapping > first && mapping[-1].inode == inode)
		mapping--;
	return inode ? mapping : NULL;
}

static struct image *open_image(struct search *search,
				const struct mapping *module)
{
	struct procfs_mapping line;
	struct image *image;

	if (!procfs_find_mapping(search->leaks->pid, module->start, &line) ||
	    image_cache_open(search->images, search->leaks->pid, &line,
			     &image))
		return NULL;
	return image;
}

/* As people write it. */
static char *shown_name(const char *name)
{
	struct demangler demangler = { 0 };
	char *shown = demangle(&demangler, name);

	return shown ? shown : xstrdup(name);
}

static char *name_datum(struct search *search, const struct mapping *module,
			taddr_t where)
{
	const char *file = file_base_name(module->path);
	struct image *image = open_image(search, module);
	struct image_datum datum = { .offset = 0 };
	char *name CLEANUP(xfree_cleanup) = NULL;
	bool known;

	if (!image)
		return xasprintf("%s+0x%" PRIx64, file,
				 where - module->start);
	known = image_describe_datum(
		image, where - module->start + (image_low(image) & WHOLE_PAGES),
		&datum);
	image_put(image);
	if (!known)
		return xasprintf("%s+0x%" PRIx64, file,
				 where - module->start);
	if (!*datum.name)
		return xasprintf("%s %s+0x%" PRIx64, file, datum.section,
				 datum.section_offset);
	name = shown_name(datum.name);
	return datum.offset ?
		       xasprintf("%s+0x%" PRIx64 " (%s %s+0x%" PRIx64 ")",
				 name, datum.offset, file, datum.section,
				 datum.section_offset) :
		       xasprintf("%s (%s %s+0x%" PRIx64 ")", name, file,
				 datum.section, datum.section_offset);
}

static const struct frozen_task *task_on(const struct leaks *leaks,
					 const struct mapping *stack)
{
	for (size_t i = 0; i < leaks->freeze.count; i++) {
		const struct frozen_task *task = &leaks->freeze.tasks[i];
		const struct arch_ops *arch =
			task->known ? arch_of_regs(&task->regs) : NULL;
		const taddr_t sp = arch ? arch->sp(&task->regs) : 0;

		if (sp >= stack->start && sp < stack->end)
			return task;
	}
	return NULL;
}

static char *make_root_name(struct search *search, taddr_t where)
{
	const struct mappings *mappings = &search->leaks->mappings;
	const struct mapping *mapping = mappings_find(mappings, where);
	const struct mapping *module;
	const struct frozen_task *task;

	if (!where)
		return xstrdup("a register");
	if (!mapping)
		return xasprintf("0x%" PRIx64, where);
	task = task_on(search->leaks, mapping);
	if (task)
		return xasprintf("stack or variables of thread %d",
				 (int)task->tid);
	module = mapping->kind == MAPPING_PROGRAM_DATA ||
				 mapping->kind == MAPPING_LIBRARY_DATA ||
				 mapping->inode ?
			 module_of(mappings, mapping) :
			 NULL;
	if (module && !mapping->shared && mapping->kind != MAPPING_FILE)
		return name_datum(search, module, where);
	return xasprintf("%s mapping 0x%" PRIx64 "+0x%" PRIx64,
			 mapping_kind_name(mapping->kind), mapping->start,
			 where - mapping->start);
}

static char *root_name(struct search *search, taddr_t where)
{
	struct root_name *root;

	HASH_FIND(hh, search->roots, &where, sizeof(where), root);
	if (!root) {
		root = xcalloc(1, sizeof(*root));
		root->where = where;
		root->name = make_root_name(search, where);
		HASH_ADD(hh, search->roots, where, sizeof(where), root);
	}
	return xstrdup(root->name);
}

/* ---- chains ---- */

static char *block_name(struct search *search, const struct block *block)
{
	const char *class = heads_class(search->heads, block->address);
	char *text, *name;

	if (class)
		return xstrdup(class);
	text = heads_text(search->heads, block->address, block_usable(block));
	name = text ? xasprintf("\"%s\"", text) :
		      xasprintf("%" PRIu64 " bytes", block_usable(block));
	free(text);
	return name;
}

/* From the block to the root; turned round afterwards. */
static struct holder_chain follow(struct search *search,
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

		chain.links[chain.count++] = (struct holder_link){
			.block = block->address,
			.offset = offset,
			.where = block->address + offset,
			.name = block_name(search, block),
		};
		block = finder_look(&search->finder, where);
		if (block) {
			offset = where - block->address;
			continue;
		}
		chain.links[chain.count++] = (struct holder_link){
			.where = where,
			.name = root_name(search, where),
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
	for (size_t i = 0; i < chain->count; i++)
		free(chain->links[i].name);
	free(chain->links);
}

/* A list's tenth element is held as its ninth is: runs of one name are one. */
static char *key_of(const struct holder_chain *chain)
{
	struct strbuf key = { 0 };

	for (size_t i = 0; i < chain->count; i++)
		if (!i || strcmp(chain->links[i].name,
				 chain->links[i - 1].name) != 0)
			strbuf_printf(&key, "%s\n", chain->links[i].name);
	if (!key.text)
		strbuf_puts(&key, "");
	return key.text;
}

static void add(struct search *search, const struct block *block)
{
	struct holder_chain chain = { .kind = block->mark };
	struct chain_entry *entry;
	char *key;

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

/* ---- what was asked for ---- */

static bool is_address(const char *whose, taddr_t *ret)
{
	char *end;

	if (strncmp(whose, "0x", 2) != 0)
		return false;
	*ret = strtoull(whose, &end, 16);
	return !*end;
}

static uint64_t add_asked(struct search *search, const char *whose)
{
	const struct blocks *blocks = &search->leaks->glibc.blocks;
	uint64_t count = 0;
	taddr_t address;

	if (is_address(whose, &address)) {
		const struct block *block =
			finder_look(&search->finder, address);

		if (block)
			add(search, block);
		return block != NULL;
	}
	for (size_t i = 0; i < blocks->count; i++) {
		const struct block *block = &blocks->list[i];
		const char *class;

		if (block->state != BLOCK_USED || block->own)
			continue;
		class = heads_class(search->heads, block->address);
		if (!class || strcmp(class, whose) != 0)
			continue;
		add(search, block);
		count++;
	}
	return count;
}

static int compare_chains(const void *a, const void *b)
{
	const struct holder_chain *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->count < y->count ? -1 : x->count > y->count;
}

static void take_chains(struct search *search, struct holders *ret)
{
	struct chain_entry *entry, *next;

	ret->chains = xcalloc(HASH_COUNT(search->chains) + 1,
			      sizeof(*ret->chains));
	HASH_ITER(hh, search->chains, entry, next) {
		ret->chains[ret->count++] = entry->chain;
		HASH_DEL(search->chains, entry);
		free(entry->key);
		free(entry);
	}
	qsort(ret->chains, ret->count, sizeof(*ret->chains), compare_chains);
}

static void free_roots(struct search *search)
{
	struct root_name *root, *next;

	HASH_ITER(hh, search->roots, root, next) {
		HASH_DEL(search->roots, root);
		free(root->name);
		free(root);
	}
}

int holders_find(const struct leaks *leaks, const char *whose,
		 struct holders *ret)
{
	struct search search = { .leaks = leaks };
	struct procmem constants;

	*ret = (struct holders){ .chains = NULL };
	procmem_init(&constants, leaks->pid);
	search.heads = heads_new(&leaks->mappings, &leaks->picture,
				 &constants.memory);
	search.images = image_cache_new();
	finder_init(&search.finder, &leaks->glibc);
	ret->blocks = add_asked(&search, whose);
	take_chains(&search, ret);
	free_roots(&search);
	finder_fini(&search.finder);
	image_cache_free(search.images);
	heads_free(search.heads);
	procmem_fini(&constants);
	return ret->blocks ? 0 : -ENOENT;
}

void holders_fini(struct holders *holders)
{
	for (size_t i = 0; i < holders->count; i++)
		free_chain(&holders->chains[i]);
	free(holders->chains);
	*holders = (struct holders){ .chains = NULL };
}
