/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * Names that a file was made up of to have one hash: no honest chain is that
 * long, nor does any function have that many versions.
 */
#define WALK_MAX 1024

/*
 * For images without DT_GNU_HASH. From the last to the first, so that chains
 * are in the table's order.
 */
static void index_exports(const struct image *image)
{
	const struct symbol_list *exports = image_exports(image);
	struct tables *tables = image->tables;
	size_t size = 16, i;

	while (size < exports->count)
		size *= 2;
	tables->export_mask = size - 1;
	tables->export_heads = xcalloc(size, sizeof(*tables->export_heads));
	tables->export_links =
		xcalloc(exports->count, sizeof(*tables->export_links));
	for (i = exports->count; i-- > 0;) {
		uint32_t hash = elf_gnu_hash(exports->list[i].name);
		uint32_t *head =
			&tables->export_heads[hash & tables->export_mask];

		tables->export_links[i] = (struct export_link){ hash, *head };
		*head = i + 1;
	}
}

/* Local symbols come first, and are in no hash table. Few images have any. */
static uint64_t find_local_end(const struct image *image)
{
	struct dynsym *dynsym = &image->tables->dynsym;
	uint64_t i, end = 1;
	GElf_Sym elf;

	for (i = 1;
	     i < dynsym->count && table_symbol(&dynsym->symbols, i, &elf);
	     i++) {
		if (GELF_ST_BIND(elf.st_info) != STB_LOCAL)
			break;
		if (image_is_function(image, &elf))
			end = i + 1;
	}
	return end;
}

static struct tables *indexed_tables(const struct image *image)
{
	struct tables *tables = image_basis(image);

	if (tables->has_index)
		return tables;
	tables->has_index = true;
	gnu_hash_init(&tables->gnu_hash, image, tables->dynsym.count);
	if (tables->gnu_hash.buckets)
		tables->local_end = find_local_end(image);
	else
		index_exports(image);
	return tables;
}

static void add_if_named(const struct image *image, uint64_t index,
			 const char *name, struct symbol_list *ret)
{
	struct symbol symbol;

	if (image_read_export(image, index, &symbol) &&
	    !strcmp(symbol.name, name))
		symbol_list_add_copy(ret, &symbol);
}

static void look_in_gnu_hash(const struct image *image, const char *name,
			     struct symbol_list *ret)
{
	const struct gnu_hash *table = &image->tables->gnu_hash;
	uint32_t hash = elf_gnu_hash(name);
	unsigned left = WALK_MAX;
	uint64_t i;

	for (i = 1; i < image->tables->local_end; i++)
		add_if_named(image, i, name, ret);
	for (i = gnu_hash_first(table, hash); i && left--;
	     i = gnu_hash_next(table, hash, i))
		add_if_named(image, i, name, ret);
}

static void look_in_index(const struct tables *tables, const char *name,
			  struct symbol_list *ret)
{
	uint32_t hash = elf_gnu_hash(name);
	uint32_t next = tables->export_heads[hash & tables->export_mask];
	unsigned left = WALK_MAX;

	while (next && left--) {
		const struct export_link *link =
			&tables->export_links[next - 1];
		const struct symbol *symbol = &tables->exports.list[next - 1];

		if (link->hash == hash && !strcmp(symbol->name, name))
			symbol_list_add_copy(ret, symbol);
		next = link->next;
	}
}

/* What was found is kept: it is pointed to, and looked for again and again. */
const struct symbol_list *image_exports_named(const struct image *image,
					      const char *name)
{
	static const struct symbol_list none;
	struct tables *tables = indexed_tables(image);
	struct symbol_list found = { 0 };
	struct asked_name *asked;

	HASH_FIND_STR(tables->asked, name, asked);
	if (asked && asked->exports.count)
		return &asked->exports;
	if (tables->gnu_hash.buckets)
		look_in_gnu_hash(image, name, &found);
	else
		look_in_index(tables, name, &found);
	if (!found.count)
		return &none;
	asked = image_ask(image, name);
	asked->exports = found;
	return &asked->exports;
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
	const struct symbol_list *exports = image_exports_named(image, name);
	const struct symbol *unversioned = NULL;
	size_t i;

	for (i = 0; i < exports->count; i++) {
		const struct symbol *symbol = &exports->list[i];

		if (!symbol->exported)
			continue;
		if (matches(symbol, version))
			return symbol;
		if (!symbol->version && !symbol->hidden_version)
			unversioned = symbol;
	}
	return unversioned;
}

static bool is_object(const GElf_Sym *symbol)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_OBJECT || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF &&
	       GELF_ST_BIND(symbol->st_info) != STB_LOCAL;
}

bool image_find_object(const struct image *image, const char *name,
		       uint64_t *address_ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	const char *found;
	GElf_Sym symbol;
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		if (dynsym_get(dynsym, i, &symbol, &found) &&
		    is_object(&symbol) && !strcmp(found, name) &&
		    image_segment_at(image, symbol.st_value)) {
			*address_ret = symbol.st_value;
			return true;
		}
	}
	return false;
}
