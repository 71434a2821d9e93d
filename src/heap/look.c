/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "heap/beginnings.h"
#include "heap/private.h"

struct look_name {
	unsigned number; /* from 1 on */
	char *text;
	UT_hash_handle hh;
};

/* Of a table that is half full at most. */
struct looked_block {
	uint64_t handle; /* 0: none */
	uint32_t type;   /* the number of a name; 0: not known */
	uint32_t how;    /* enum look_how */
};

struct heap_look {
	struct site_look *sites; /* by number - 1 */
	size_t site_count;
	struct looked_block *blocks; /* NULL: types aren't asked for */
	size_t mask;
	struct look_name *names; /* by text */
	struct look_name **numbers;
	size_t name_count, name_room;
	char *why_untyped;             /* or NULL */
	struct beginnings *beginnings; /* or NULL */
};

/* ---- the table ---- */

static size_t first_place(const struct heap_look *look, uint64_t handle)
{
	return (handle >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & look->mask;
}

static struct looked_block *place_of(const struct heap_look *look,
				     uint64_t handle)
{
	size_t at = first_place(look, handle);

	while (look->blocks[at].handle && look->blocks[at].handle != handle)
		at = (at + 1) & look->mask;
	return &look->blocks[at];
}

static struct looked_block *find(const struct heap_look *look, uint64_t handle)
{
	struct looked_block *block;

	if (!look->blocks || !handle)
		return NULL;
	block = place_of(look, handle);
	return block->handle ? block : NULL;
}

/* A mapping that was cut up is several. */
static size_t count_blocks(const struct heap *heap)
{
	struct heap_walk walk = { 0 };
	struct heap_block block;
	size_t count = 0;

	while (heap_next_block(heap, &walk, &block))
		count++;
	return count;
}

static void fill(struct heap_look *look, const struct heap *heap)
{
	const size_t count = count_blocks(heap);
	struct heap_walk walk = { 0 };
	struct heap_block block;
	size_t places = 16;

	while (places / 2 <= count)
		places *= 2;
	look->blocks = xcalloc(places, sizeof(*look->blocks));
	look->mask = places - 1;
	while (heap_next_block(heap, &walk, &block))
		if (block.site->function->family->has_size && block.handle)
			place_of(look, block.handle)->handle = block.handle;
}

struct heap_look *heap_look_new(const struct heap *heap, bool typed)
{
	struct heap_look *look = xcalloc(1, sizeof(*look));

	look->site_count = heap_site_count(heap);
	look->sites = xcalloc(look->site_count + 1, sizeof(*look->sites));
	if (typed)
		fill(look, heap);
	return look;
}

void heap_look_free(struct heap_look *look)
{
	struct look_name *name, *next;

	if (!look)
		return;
	HASH_ITER(hh, look->names, name, next) {
		HASH_DEL(look->names, name);
		free(name->text);
		free(name);
	}
	for (size_t i = 0; i < look->site_count; i++)
		free(look->sites[i].types);
	free(look->sites);
	free(look->blocks);
	free(look->numbers);
	free(look->why_untyped);
	beginnings_free(look->beginnings);
	free(look);
}

/* ---- what is told ---- */

static uint32_t number_of(struct heap_look *look, const char *text)
{
	struct look_name *name;

	HASH_FIND_STR(look->names, text, name);
	if (name)
		return name->number;
	name = xcalloc(1, sizeof(*name));
	name->text = xstrdup(text);
	look->numbers = xgrow(look->numbers, look->name_count, &look->name_room,
			      sizeof(struct look_name *));
	look->numbers[look->name_count] = name;
	name->number = ++look->name_count;
	HASH_ADD_KEYPTR(hh, look->names, name->text, strlen(name->text), name);
	return name->number;
}

bool heap_look_has(const struct heap_look *look, uint64_t handle)
{
	return find(look, handle);
}

enum look_how heap_look_how(const struct heap_look *look, uint64_t handle)
{
	const struct looked_block *block = find(look, handle);

	return block ? block->how : LOOK_UNKNOWN;
}

bool heap_look_is_typed(const struct heap_look *look)
{
	return look->blocks;
}

void heap_look_refuse_types(struct heap_look *look, const char *why)
{
	free(look->why_untyped);
	look->why_untyped = xstrdup(why);
}

const char *heap_look_why_untyped(const struct heap_look *look)
{
	return look ? look->why_untyped : NULL;
}

const char *heap_look_type(const struct heap_look *look, uint64_t handle)
{
	const struct looked_block *block = find(look, handle);

	return block && block->type ? look->numbers[block->type - 1]->text :
				      NULL;
}

void heap_look_tell(struct heap_look *look, uint64_t handle, enum look_how how,
		    const char *type)
{
	struct looked_block *block = find(look, handle);

	if (!block || block->how >= how)
		return;
	block->how = how;
	block->type = type ? number_of(look, type) : 0;
}

void heap_look_keep(struct heap_look *look, struct beginnings *beginnings)
{
	beginnings_free(look->beginnings);
	look->beginnings = beginnings;
}

const struct beginnings *heap_look_beginnings(const struct heap_look *look)
{
	return look ? look->beginnings : NULL;
}

struct site_look *heap_look_site(struct heap_look *look,
				 const struct site *site)
{
	return site->number && site->number <= look->site_count ?
		       &look->sites[site->number - 1] :
		       NULL;
}

/* ---- sums ---- */

struct type_of_site {
	struct {
		uint32_t site, type;
	} key;
	uint64_t blocks, bytes;
	UT_hash_handle hh;
};

static void add(struct type_of_site **sums, const struct heap_block *block,
		uint32_t type)
{
	struct type_of_site key = { .key = { block->site->number, type } };
	struct type_of_site *sum;

	HASH_FIND(hh, *sums, &key.key, sizeof(key.key), sum);
	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		sum->key = key.key;
		HASH_ADD(hh, *sums, key, sizeof(sum->key), sum);
	}
	sum->blocks += block->weight.count;
	sum->bytes += block->weight.count * block->size;
}

static void give(struct heap_look *look, const struct type_of_site *sum)
{
	struct site_look *site = &look->sites[sum->key.site - 1];

	site->types = xgrow(site->types, site->type_count, &site->type_room,
			    sizeof(*site->types));
	site->types[site->type_count++] = (struct look_type){
		.name = look->numbers[sum->key.type - 1]->text,
		.blocks = sum->blocks,
		.bytes = sum->bytes,
	};
}

static int compare(const void *a, const void *b)
{
	const struct look_type *x = a, *y = b;

	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sum_up(struct heap_look *look, const struct heap *heap)
{
	struct type_of_site *sums = NULL, *sum, *next;
	struct heap_walk walk = { 0 };
	struct heap_block block;

	while (heap_next_block(heap, &walk, &block)) {
		const struct looked_block *looked = find(look, block.handle);

		if (looked && looked->type &&
		    block.site->function->family->has_size &&
		    heap_look_site(look, block.site))
			add(&sums, &block, looked->type);
	}
	HASH_ITER(hh, sums, sum, next) {
		give(look, sum);
		HASH_DEL(sums, sum);
		free(sum);
	}
	for (size_t i = 0; i < look->site_count; i++)
		if (look->sites[i].type_count)
			qsort(look->sites[i].types, look->sites[i].type_count,
			      sizeof(*look->sites[i].types), compare);
}

/* ---- the heap's ---- */

static void sweep(struct heap *heap, const struct family *family,
		  const struct heap_look *look, uint64_t now)
{
	for (size_t i = 0; i <= look->mask; i++)
		if (look->blocks[i].how == LOOK_EMPTY)
			handles_collected(heap, family, look->blocks[i].handle,
					  now);
}

void heap_forget_look(struct heap *heap)
{
	heap_look_free(heap->look);
	heap->look = NULL;
}

void heap_set_look(struct heap *heap, struct heap_look *look, uint64_t now)
{
	for (size_t i = 0; look->blocks && i < heap->ledger_count; i++)
		if (heap->ledgers[i].family->collected &&
		    !heap->ledgers[i].family->granularity)
			sweep(heap, heap->ledgers[i].family, look, now);
	if (look->blocks)
		sum_up(look, heap);
	heap_forget_look(heap);
	heap->look = look;
}

const struct heap_look *heap_looked(const struct heap *heap)
{
	return heap->look;
}

const struct site_look *heap_site_look(const struct heap *heap,
				       const struct site *site)
{
	return heap->look ? heap_look_site(heap->look, site) : NULL;
}
