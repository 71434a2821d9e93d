/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/private.h"

/*
 * An IRELATIVE relocation names no symbol: it is known by the IFUNC symbol at
 * its resolver. There are few, so these are picked out of the symbol tables,
 * which may be very large.
 */

/* A C library has two hundred. */
#define IFUNCS_MAX    16384
#define NAME_MAX_SIZE 4096

static bool has_irelative(const struct tables *tables)
{
	size_t i;

	for (i = 0; i < tables->import_count; i++)
		if (tables->imports[i].kind == IMPORT_IRELATIVE)
			return true;
	return false;
}

static void pick(const struct symbol_list *symbols, struct symbol_list *ret)
{
	size_t i;

	for (i = 0; i < symbols->count; i++)
		if (symbols->list[i].kind == SYMBOL_IFUNC)
			symbol_list_add_copy(ret, &symbols->list[i]);
}

/* Without its version; NULL when it makes no sense. */
static const char *read_name(const struct image *image,
			     const struct symtab *symtab, uint32_t offset)
{
	char name[NAME_MAX_SIZE];
	size_t size = sizeof(name);

	if (offset >= symtab->strings_size)
		return NULL;
	if (size > symtab->strings_size - offset)
		size = symtab->strings_size - offset;
	size = source_read(symtab->source, symtab->strings + offset, name,
			   size);
	if (strnlen(name, size) == sizeof(name))
		return NULL;
	name[strnlen(name, size)] = '\0';
	name[strcspn(name, "@")] = '\0';
	return *name ? image_ask(image, name)->text : NULL;
}

static void pick_symtab(const struct image *image, const struct symtab *symtab,
			struct symbol_list *ret)
{
	CLEANUP(table_fini) struct table table;
	GElf_Sym elf;
	uint64_t i;

	symtab_entries(symtab, &table);
	for (i = 1; table_symbol(&table, i, &elf) && ret->count < IFUNCS_MAX;
	     i++) {
		const char *name;

		if (GELF_ST_TYPE(elf.st_info) != STT_GNU_IFUNC ||
		    !image_is_function(image, &elf))
			continue;
		name = read_name(image, symtab, elf.st_name);
		if (name)
			symbol_list_add(ret, name, &elf);
	}
}

/* Returns whether each has a name. */
static bool name_imports(struct tables *tables, struct symbol_list *ifuncs)
{
	bool all = true;
	size_t i, at;

	symbol_list_order(ifuncs);
	for (i = 0; i < tables->import_count; i++) {
		struct import *import = &tables->imports[i];

		if (import->kind != IMPORT_IRELATIVE || !import->resolver)
			continue;
		at = symbol_list_bound(ifuncs, import->resolver);
		if (at < ifuncs->count &&
		    ifuncs->list[at].address == import->resolver)
			import->name = ifuncs->list[at].name;
		else
			all = false;
	}
	return all;
}

void image_name_irelative(const struct image *image)
{
	struct tables *tables = image->tables;
	struct symbol_list ifuncs = { 0 };
	const struct symtab *debug;

	if (!has_irelative(tables))
		return;
	if (tables->has_symbols) {
		pick(&tables->symbols, &ifuncs);
		(void)name_imports(tables, &ifuncs);
		goto out;
	}
	pick(image_exports(image), &ifuncs);
	if (tables->symtab.source)
		pick_symtab(image, &tables->symtab, &ifuncs);
	if (name_imports(tables, &ifuncs))
		goto out;
	debug = image_debug_symtab(image);
	if (debug) {
		pick_symtab(image, debug, &ifuncs);
		(void)name_imports(tables, &ifuncs);
	}
out:
	free(ifuncs.list);
}
