/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/* Of one name: the default version first. */
static int compare_exports(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (!order)
		order = a->hidden_version - b->hidden_version;
	if (!order)
		order = strcmp(a->version ? a->version : "",
			       b->version ? b->version : "");
	if (!order)
		order = a->address < b->address ? -1 : a->address > b->address;
	return order;
}

/* Many an image is never asked for a name. */
static const struct symbol_list *sorted_exports(const struct image *image)
{
	struct tables *tables = image_symbol_tables(image);
	struct symbol_list *exports = &tables->exports;

	if (!tables->has_sorted_exports && exports->count)
		qsort(exports->list, exports->count, sizeof(*exports->list),
		      compare_exports);
	tables->has_sorted_exports = true;
	return exports;
}

/* The first export of a name; the others follow. */
static size_t first_export(const struct symbol_list *exports,
			   const char *name)
{
	size_t low = 0, high = exports->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(exports->list[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool matches(const struct symbol *symbol, const char *version)
{
	if (!version)
		return !symbol->hidden_version;
	return symbol->version && !strcmp(symbol->version, version);
}

/*
 * A symbol without a version serves a reference that wants one, as in
 * glibc's elf/dl-lookup.c: a library may have lost its versions.
 */
const struct symbol *image_find_export(const struct image *image,
				       const char *name, const char *version)
{
	const struct symbol_list *exports = sorted_exports(image);
	const struct symbol *unversioned = NULL;
	size_t i;

	for (i = first_export(exports, name); i < exports->count; i++) {
		const struct symbol *symbol = &exports->list[i];

		if (strcmp(symbol->name, name))
			break;
		if (matches(symbol, version))
			return symbol;
		if (!symbol->version && !symbol->hidden_version)
			unversioned = symbol;
	}
	return unversioned;
}

static int compare_indices(const void *left, const void *right, void *context)
{
	const struct symbol *symbols = context;
	const uint32_t *a = left, *b = right;
	int order = strcmp(symbols[*a].name, symbols[*b].name);

	if (!order)
		order = symbols[*b].exported - symbols[*a].exported;
	if (!order)
		order = symbols[*b].global - symbols[*a].global;
	return order ? order : (*a < *b ? -1 : *a > *b);
}

static void index_names(struct tables *tables)
{
	size_t i;

	tables->by_name = xcalloc(tables->symbols.count,
				  sizeof(*tables->by_name));
	for (i = 0; i < tables->symbols.count; i++)
		tables->by_name[i] = i;
	if (i)
		qsort_r(tables->by_name, i, sizeof(*tables->by_name),
			compare_indices, tables->symbols.list);
}

const struct symbol *image_find_symbol(const struct image *image,
				       const char *name)
{
	struct tables *tables = image_symbol_tables(image);
	const struct symbol *symbols = tables->symbols.list;
	size_t low = 0, high = tables->symbols.count;

	if (!tables->by_name)
		index_names(tables);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(symbols[tables->by_name[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == tables->symbols.count ||
	    strcmp(symbols[tables->by_name[low]].name, name))
		return NULL;
	return &symbols[tables->by_name[low]];
}

bool image_find_object(const struct image *image, const char *name,
		       uint64_t *address_ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		struct elf_symbol symbol;
		const char *found;

		if (dynsym_get(dynsym, image_word_size(image), i, &symbol,
			       &found) &&
		    (symbol.type == STT_OBJECT || symbol.type == STT_NOTYPE) &&
		    symbol.section != SHN_UNDEF &&
		    symbol.binding != STB_LOCAL && !strcmp(found, name) &&
		    image_segment_at(image, symbol.value)) {
			*address_ret = symbol.value;
			return true;
		}
	}
	return false;
}
