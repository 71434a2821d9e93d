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
			sections_init(&tables->sections, &image->source,
				      &image->header);
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

bool image_is_function(const struct image *image,
		       const struct elf_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) &&
	       symbol->section != SHN_UNDEF &&
	       image_is_code(image, symbol->value);
}

bool image_read_export(const struct image *image, uint64_t index,
		       struct symbol *ret)
{
	struct dynsym *dynsym = &image->tables->dynsym;
	const struct version *version;
	struct elf_symbol elf;
	const char *name;

	if (!dynsym_get(dynsym, image_word_size(image), index, &elf, &name) ||
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
	struct name_budget budget =
		name_budget(count, &tables->dynsym.strings);
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

void symtab_entries(const struct symtab *symtab, unsigned word_size,
		    struct table *ret)
{
	table_init(ret, symtab->source, symtab->symbols, symtab->symbols_size,
		   elf_symbol_size(word_size));
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
	const unsigned word_size = image_word_size(image);
	struct name_budget budget;
	struct table table;
	struct cursor c;
	uint64_t i;

	blob_load(strings, symtab->source, symtab->strings,
		  symtab->strings_size);
	symtab_entries(symtab, word_size, &table);
	budget = name_budget(table.count, strings);
	for (i = 1; table_get(&table, i, &c); i++) {
		struct elf_symbol elf = elf_symbol(&c, word_size);
		const char *name = blob_string(strings, elf.name);

		if (!name || !image_is_function(image, &elf))
			continue;
		if (!budget_take(&budget, name) ||
		    symbols->count >= SYMBOLS_MAX)
			break;
		cut_version(strings, elf.name);
		if (*name)
			symbol_list_add(symbols, name, &elf);
	}
}
