/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/difference.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct row_key {
	uint64_t size;
	const char *class, *owner; /* one text for one name: see share() */
	uint64_t fate;
};

struct row_entry {
	struct row_key key;
	struct difference_row row;
	UT_hash_handle hh;
};

struct shared_name {
	const char *text;
	UT_hash_handle hh;
};

struct comparing {
	struct row_entry *rows;
	struct shared_name *names;
	struct difference *result;
};

/* The snapshots have a text each for the same name. */
static const char *share(struct comparing *comparing, const char *text)
{
	struct shared_name *name;

	if (!text)
		return NULL;
	HASH_FIND_STR(comparing->names, text, name);
	if (name)
		return name->text;
	name = xcalloc(1, sizeof(*name));
	name->text = text;
	HASH_ADD_KEYPTR(hh, comparing->names, name->text, strlen(text), name);
	return text;
}

static const char *owner_of(const struct snapshot *snapshot,
			    const struct block *block)
{
	const size_t index = block - snapshot->leaks.glibc.blocks.list;
	const uint32_t owner = snapshot->owners.of[index];

	return owner ? snapshot->owners.names[owner] : NULL;
}

static bool is_lost(const struct block *block)
{
	return block->mark != REACH_REACHED;
}

static void add(struct comparing *comparing, const struct snapshot *snapshot,
		const struct block *block, enum block_fate fate)
{
	const char *class = block_names_class(snapshot->names, block);
	struct reach_total *total = &comparing->result->totals[fate];
	struct row_entry *entry;
	struct row_key key;

	memset(&key, 0, sizeof(key));
	key = (struct row_key){
		.size = block_usable(block),
		.class = share(comparing, class),
		.owner = share(comparing, owner_of(snapshot, block)),
		.fate = fate,
	};
	HASH_FIND(hh, comparing->rows, &key, sizeof(key), entry);
	if (!entry) {
		entry = xcalloc(1, sizeof(*entry));
		entry->key = key;
		entry->row = (struct difference_row){
			.fate = fate,
			.size = key.size,
			.class = key.class,
			.owner = key.owner,
			.first = block->address,
		};
		HASH_ADD(hh, comparing->rows, key, sizeof(key), entry);
	}
	entry->row.blocks++;
	entry->row.lost += is_lost(block);
	total->blocks++;
	total->bytes += block_usable(block);
}

static void add_survivor(struct comparing *comparing,
			 const struct snapshot *new_one,
			 const struct block *before, const struct block *now)
{
	struct reach_total *lost = &comparing->result->lost_since;

	add(comparing, new_one, now, FATE_SURVIVED);
	if (is_lost(before) || !is_lost(now))
		return;
	lost->blocks++;
	lost->bytes += block_usable(now);
}

static bool is_same(const struct snapshot *old_one, const struct block *before,
		    const struct snapshot *new_one, const struct block *now)
{
	const char *a, *b;

	if (before->address != now->address || before->units != now->units)
		return false;
	a = block_names_class(old_one->names, before);
	b = block_names_class(new_one->names, now);
	return a && b ? !strcmp(a, b) : !a && !b;
}

/* Both are sorted by address. */
static void compare_blocks(struct comparing *comparing,
			   const struct snapshot *old_one,
			   const struct snapshot *new_one)
{
	const struct blocks *before = &old_one->leaks.glibc.blocks;
	const struct blocks *now = &new_one->leaks.glibc.blocks;
	size_t i = 0, j = 0;

	while (i < before->count || j < now->count) {
		const struct block *a = i < before->count ? &before->list[i] :
							    NULL;
		const struct block *b = j < now->count ? &now->list[j] : NULL;

		if (a && b && comparing->result->same_process &&
		    is_same(old_one, a, new_one, b)) {
			add_survivor(comparing, new_one, a, b);
			i++;
			j++;
		} else if (a && (!b || a->address <= b->address)) {
			add(comparing, old_one, a, FATE_GONE);
			i++;
		} else {
			add(comparing, new_one, b, FATE_NEW);
			j++;
		}
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct difference_row *x = a, *y = b;
	const uint64_t first = x->blocks * x->size;
	const uint64_t second = y->blocks * y->size;

	if (x->fate != y->fate)
		return x->fate < y->fate ? -1 : 1;
	if (first != second)
		return first > second ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void take_rows(struct comparing *comparing)
{
	struct difference *ret = comparing->result;
	struct row_entry *entry, *next;

	ret->rows =
		xcalloc(HASH_COUNT(comparing->rows) + 1, sizeof(*ret->rows));
	HASH_ITER(hh, comparing->rows, entry, next) {
		ret->rows[ret->count++] = entry->row;
		HASH_DEL(comparing->rows, entry);
		free(entry);
	}
	qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_rows);
}

static void forget_names(struct comparing *comparing)
{
	struct shared_name *name, *next;

	HASH_ITER(hh, comparing->names, name, next) {
		HASH_DEL(comparing->names, name);
		free(name);
	}
}

/* Another process of the same number has its program elsewhere, mostly. */
static bool is_same_process(const struct memory_view *a,
			    const struct memory_view *b)
{
	return a->pid == b->pid && a->mappings.count && b->mappings.count &&
	       a->mappings.list[0].start == b->mappings.list[0].start &&
	       a->mappings.program && b->mappings.program &&
	       !strcmp(a->mappings.program, b->mappings.program);
}

void difference_find(const struct snapshot *old_one,
		     const struct snapshot *new_one, struct difference *ret)
{
	struct comparing comparing = { .result = ret };

	*ret = (struct difference){
		.same_process = is_same_process(&old_one->view, &new_one->view),
	};
	compare_blocks(&comparing, old_one, new_one);
	take_rows(&comparing);
	forget_names(&comparing);
}

void difference_fini(struct difference *difference)
{
	free(difference->rows);
	*difference = (struct difference){ .rows = NULL };
}
