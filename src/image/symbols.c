/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Length first: names that differ in it needn't be read further. */
static int compare_names(const struct symbol *a, const struct symbol *b)
{
	int order = compare_numbers(strlen(a->name), strlen(b->name));

	return order ? order : strcmp(a->name, b->name);
}

/* Brings together what is to be merged, the one to keep first. */
static int compare_same(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	int order = compare_numbers(a->address, b->address);

	if (!order)
		order = compare_names(a, b);
	if (!order)
		order = b->exported - a->exported;
	return order ? order : a->hidden_version - b->hidden_version;
}

static int compare_rank(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	int order = compare_numbers(a->address, b->address);

	if (!order)
		order = b->global - a->global;
	if (!order)
		order = (a->name[0] == '_') - (b->name[0] == '_');
	return order ? order : compare_names(a, b);
}

static void merge_into(struct symbol *kept, const struct symbol *other)
{
	kept->global |= other->global;
	kept->exported |= other->exported;
	if (!kept->size)
		kept->size = other->size;
	if (other->kind == SYMBOL_IFUNC)
		kept->kind = SYMBOL_IFUNC;
}

static void merge_same(struct symbol_list *symbols)
{
	struct symbol *list = symbols->list;
	size_t i, n = 0;

	for (i = 0; i < symbols->count; i++) {
		if (n && list[n - 1].address == list[i].address &&
		    !strcmp(list[n - 1].name, list[i].name))
			merge_into(&list[n - 1], &list[i]);
		else
			list[n++] = list[i];
	}
	symbols->count = n;
	symbols->room = n;
	symbols->list = xreallocarray(list, n, sizeof(*list));
}

/* Before the merge, which would lose versions at one address. */
static void copy_exports(struct tables *tables)
{
	struct symbol_list *exports = &tables->exports;
	size_t i;

	for (i = 0; i < tables->symbols.count; i++) {
		if (!tables->symbols.list[i].exported)
			continue;
		exports->list = xgrow(exports->list, exports->count,
				      &exports->room, sizeof(*exports->list));
		exports->list[exports->count++] = tables->symbols.list[i];
	}
}

/* Those of one address only: the addresses are in order by now. */
static void sort_by_rank(struct symbol_list *symbols)
{
	struct symbol *list = symbols->list;
	size_t i, n;

	for (i = 0; i < symbols->count; i += n) {
		for (n = 1; i + n < symbols->count; n++)
			if (list[i + n].address != list[i].address)
				break;
		if (n > 1)
			qsort(list + i, n, sizeof(*list), compare_rank);
	}
}

static void put_in_order(struct symbol_list *symbols)
{
	if (!symbols->count)
		return;
	qsort(symbols->list, symbols->count, sizeof(*symbols->list),
	      compare_same);
	merge_same(symbols);
	sort_by_rank(symbols);
}

struct tables *image_symbol_tables(const struct image *image)
{
	struct tables *tables = image_basis(image);

	if (!tables->has_symbols) {
		tables->has_symbols = true;
		image_add_dynsym(image);
		copy_exports(tables);
		image_add_symtab(image, &image->source, &tables->sections,
				 &tables->strings);
		put_in_order(&tables->symbols);
	}
	return tables;
}

/* The old list stays: pointers to its symbols may be about. */
static void retire_list(struct tables *tables)
{
	struct symbol_list *symbols = &tables->symbols;
	struct symbol *copy;

	if (tables->retired)
		return;
	copy = xcalloc(symbols->count, sizeof(*copy));
	if (symbols->count)
		memcpy(copy, symbols->list, symbols->count * sizeof(*copy));
	tables->retired = symbols->list;
	symbols->list = copy;
	symbols->room = symbols->count;
}

bool image_add_debug_symtab(const struct image *image,
			    const struct source *source,
			    const struct sections *sections)
{
	struct tables *tables = image_symbol_tables(image);

	if (tables->debug_strings.bytes)
		return false;
	retire_list(tables);
	if (!image_add_symtab(image, source, sections, &tables->debug_strings))
		return false;
	put_in_order(&tables->symbols);
	free(tables->by_name);
	tables->by_name = NULL;
	image_name_irelative(image);
	return true;
}

const struct symbol *image_symbols(const struct image *image,
				   size_t *count_ret)
{
	struct tables *tables = image_symbol_tables(image);

	*count_ret = tables->symbols.count;
	return tables->symbols.list;
}

/* The first index whose symbol is at or behind an address. */
static size_t lower_bound(const struct symbol_list *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *image_ifunc_name(const struct image *image, uint64_t address)
{
	const struct symbol_list *symbols =
		&image_symbol_tables(image)->symbols;
	size_t i;

	for (i = lower_bound(symbols, address); i < symbols->count; i++) {
		if (symbols->list[i].address != address)
			break;
		if (symbols->list[i].kind == SYMBOL_IFUNC)
			return symbols->list[i].name;
	}
	return "";
}
