/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/* Entries that are looked at; only a part of them are functions. */
#define ENTRIES_MAX (4 * SYMBOLS_MAX)

struct tables *image_basis(const struct image *image)
{
	struct tables *tables = image->tables;

	if (!tables->has_basis) {
		tables->has_basis = true;
		if (!image->from_memory)
			sections_init(&tables->sections, &image->source);
		dynsym_init(&tables->dynsym, image);
		(void)symtab_init(&tables->symtab, &image->source,
				  &tables->sections);
	}
	return tables;
}

/*
 * Names may overlap, so that a small file can hold more and longer ones than
 * can be sorted in reasonable time. Real tables have few that share a string.
 */
struct name_budget {
	uint64_t left;
};

static struct name_budget name_budget(uint64_t symbols,
				      const struct blob *strings)
{
	return (struct name_budget){ symbols * 64 + strings->size * 16 };
}

static bool budget_take(struct name_budget *budget, const char *name)
{
	budget->left -= strnlen(name, budget->left);
	return budget->left;
}

bool image_is_function(const struct image *image, const GElf_Sym *symbol)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       symbol->st_shndx != SHN_UNDEF &&
	       image_is_code(image, symbol->st_value);
}

bool image_read_export(const struct image *image, uint64_t index,
		       struct symbol *ret)
{
	struct dynsym *dynsym = &image->tables->dynsym;
	const struct version *version;
	const char *name;
	GElf_Sym elf;

	if (!dynsym_get(dynsym, index, &elf, &name) ||
	    !image_is_function(image, &elf))
		return false;
	*ret = image_symbol_of(name, &elf);
	ret->exported = ret->global;
	version = dynsym_version(dynsym, index, &ret->hidden_version);
	if (version)
		ret->version = version->name;
	return true;
}

static void read_exports(const struct image *image, struct tables *tables)
{
	const uint64_t count = tables->dynsym.count;
	struct name_budget budget = name_budget(count, &tables->dynsym.strings);
	uint64_t i;

	for (i = 1; i < count; i++) {
		struct symbol symbol;

		if (!image_read_export(image, i, &symbol))
			continue;
		if (!budget_take(&budget, symbol.name) ||
		    tables->exports.count == SYMBOLS_MAX)
			break;
		symbol_list_add_copy(&tables->exports, &symbol);
	}
}

const struct symbol_list *image_exports(const struct image *image)
{
	struct tables *tables = image_basis(image);

	if (!tables->has_exports) {
		tables->has_exports = true;
		read_exports(image, tables);
	}
	return &tables->exports;
}

bool symtab_init(struct symtab *symtab, const struct source *source,
		 const struct sections *sections)
{
	const struct section *symbols =
		sections_find_type(sections, SHT_SYMTAB);
	const struct section *strings =
		symbols ? sections_linked(sections, symbols) : NULL;

	if (!strings || strings->type != SHT_STRTAB)
		return false;
	*symtab = (struct symtab){
		.source = source,
		.symbols = symbols->offset,
		.symbols_size = symbols->size,
		.strings = strings->offset,
		.strings_size = strings->size,
	};
	return true;
}

void symtab_entries(const struct symtab *symtab, struct table *ret)
{
	table_init(ret, symtab->source, symtab->symbols, symtab->symbols_size,
		   ELF_T_SYM);
	if (ret->count > ENTRIES_MAX)
		ret->count = ENTRIES_MAX;
}

/*
 * Linkers write foo@V and foo@@V into .symtab. Cutting such a string where it
 * lies is right for every other that shares its end, too.
 */
static void cut_version(struct blob *strings, uint64_t name)
{
	char *at = strchr((char *)strings->bytes + name, '@');

	if (at)
		*at = '\0';
}

void image_add_symtab(const struct image *image, const struct symtab *symtab,
		      struct symbol_list *symbols, struct blob *strings)
{
	CLEANUP(table_fini) struct table table;
	struct name_budget budget;
	GElf_Sym elf;
	uint64_t i;

	blob_load(strings, symtab->source, symtab->strings,
		  symtab->strings_size);
	symtab_entries(symtab, &table);
	budget = name_budget(table.count, strings);
	for (i = 1; table_symbol(&table, i, &elf); i++) {
		const char *name = blob_string(strings, elf.st_name);

		if (!name || !image_is_function(image, &elf))
			continue;
		if (!budget_take(&budget, name) ||
		    symbols->count >= SYMBOLS_MAX)
			break;
		cut_version(strings, elf.st_name);
		if (*name)
			symbol_list_add(symbols, name, &elf);
	}
}
