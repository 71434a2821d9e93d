/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
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

/* What the radix sort moves about, many times smaller than a symbol. */
struct key {
	uint64_t address;
	uint32_t index;
};

/* Bits that are sorted by in one pass. */
#define DIGIT 11

/* One pass of a radix sort. False: all are the same in these bits. */
static bool sort_digit(const struct key *keys, size_t count, unsigned shift,
		       struct key *ret)
{
	const uint64_t mask = (1u << DIGIT) - 1;
	size_t places[1u << DIGIT] = { 0 };
	size_t i, place = 0;

	for (i = 0; i < count; i++)
		places[keys[i].address >> shift & mask]++;
	if (places[keys[0].address >> shift & mask] == count)
		return false;
	for (i = 0; i <= mask; i++) {
		size_t n = places[i];

		places[i] = place;
		place += n;
	}
	for (i = 0; i < count; i++)
		ret[places[keys[i].address >> shift & mask]++] = keys[i];
	return true;
}

/* Moves each symbol to its place, along the cycles of the permutation. */
static void permute(struct symbol *list, struct key *keys, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct symbol first = list[i];
		size_t to = i, from;

		while ((from = keys[to].index) != i) {
			list[to] = list[from];
			keys[to].index = to;
			to = from;
		}
		list[to] = first;
		keys[to].index = to;
	}
}

static void sort_by_address(struct symbol_list *symbols)
{
	struct key *keys = xcalloc(symbols->count, sizeof(*keys));
	struct key *other = xcalloc(symbols->count, sizeof(*other));
	unsigned shift;
	size_t i;

	for (i = 0; i < symbols->count; i++)
		keys[i] = (struct key){ symbols->list[i].address, i };
	for (shift = 0; shift < 64; shift += DIGIT) {
		struct key *sorted = other;

		if (!sort_digit(keys, symbols->count, shift, other))
			continue;
		other = keys;
		keys = sorted;
	}
	permute(symbols->list, keys, symbols->count);
	free(keys);
	free(other);
}

/* Those of one address only: the addresses are in order by now. */
static void sort_groups(struct symbol_list *symbols,
			int (*compare)(const void *, const void *))
{
	struct symbol *list = symbols->list;
	size_t i, n;

	for (i = 0; i < symbols->count; i += n) {
		for (n = 1; i + n < symbols->count; n++)
			if (list[i + n].address != list[i].address)
				break;
		if (n > 1)
			qsort(list + i, n, sizeof(*list), compare);
	}
}

void symbol_list_order(struct symbol_list *symbols)
{
	if (!symbols->count)
		return;
	sort_by_address(symbols);
	sort_groups(symbols, compare_same);
	merge_same(symbols);
	sort_groups(symbols, compare_rank);
}

struct symbol image_symbol_of(const char *name, const GElf_Sym *elf)
{
	return (struct symbol){
		.name = name,
		.address = elf->st_value,
		.size = elf->st_size,
		.kind = GELF_ST_TYPE(elf->st_info) == STT_GNU_IFUNC ?
				SYMBOL_IFUNC :
				SYMBOL_FUNCTION,
		.global = GELF_ST_BIND(elf->st_info) != STB_LOCAL,
	};
}

void symbol_list_add_copy(struct symbol_list *symbols,
			  const struct symbol *symbol)
{
	symbols->list = xgrow(symbols->list, symbols->count, &symbols->room,
			      sizeof(*symbols->list));
	symbols->list[symbols->count++] = *symbol;
}

void symbol_list_add(struct symbol_list *symbols, const char *name,
		     const GElf_Sym *elf)
{
	struct symbol symbol = image_symbol_of(name, elf);

	symbol_list_add_copy(symbols, &symbol);
}

static void copy_exports(const struct image *image, struct symbol_list *ret)
{
	const struct symbol_list *exports = image_exports(image);

	if (!exports->count)
		return;
	ret->list = xcalloc(exports->count, sizeof(*ret->list));
	memcpy(ret->list, exports->list, exports->count * sizeof(*ret->list));
	ret->count = exports->count;
	ret->room = exports->count;
}

struct tables *image_symbol_tables(const struct image *image)
{
	struct tables *tables = image_basis(image);
	const struct symtab *debug;

	if (tables->has_symbols)
		return tables;
	copy_exports(image, &tables->symbols);
	if (tables->symtab.source)
		image_add_symtab(image, &tables->symtab, &tables->symbols,
				 &tables->strings);
	debug = image_debug_symtab(image);
	if (debug)
		image_add_symtab(image, debug, &tables->symbols,
				 &tables->debug_strings);
	symbol_list_order(&tables->symbols);
	tables->has_symbols = true;
	debug_file_close(&tables->debug);
	return tables;
}

const struct symbol *image_symbols(const struct image *image, size_t *count_ret)
{
	struct tables *tables = image_symbol_tables(image);

	*count_ret = tables->symbols.count;
	return tables->symbols.list;
}

size_t symbol_list_bound(const struct symbol_list *symbols, uint64_t address)
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
