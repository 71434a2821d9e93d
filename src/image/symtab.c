/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

struct tables *image_basis(const struct image *image)
{
	struct tables *tables = image->tables;

	if (!tables->has_basis) {
		tables->has_basis = true;
		if (!image->from_memory)
			sections_init(&tables->sections, &image->source,
				      &image->header);
		dynsym_init(&tables->dynsym, image);
	}
	return tables;
}

/* Twice what a browser with all its symbols has. */
#define SYMBOLS_MAX (1u << 22)

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

static bool is_function(const struct image *image,
			const struct elf_symbol *symbol)
{
	return (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC) &&
	       symbol->section != SHN_UNDEF &&
	       image_is_code(image, symbol->value);
}

static struct symbol *add_symbol(struct symbol_list *symbols, const char *name,
				 const struct elf_symbol *elf)
{
	struct symbol *symbol;

	symbols->list = xgrow(symbols->list, symbols->count, &symbols->room,
			      sizeof(*symbols->list));
	symbol = &symbols->list[symbols->count++];
	*symbol = (struct symbol){
		.name = name,
		.address = elf->value,
		.size = elf->size,
		.kind = elf->type == STT_GNU_IFUNC ? SYMBOL_IFUNC :
						     SYMBOL_FUNCTION,
		.global = elf->binding != STB_LOCAL,
	};
	return symbol;
}

void image_add_dynsym(const struct image *image)
{
	struct tables *tables = image_basis(image);
	struct dynsym *dynsym = &tables->dynsym;
	struct name_budget budget =
		name_budget(dynsym->count, &dynsym->strings);
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		const struct version *version;
		struct elf_symbol elf;
		struct symbol *symbol;
		const char *name;

		if (!dynsym_get(dynsym, image_word_size(image), i, &elf,
				&name) ||
		    !is_function(image, &elf))
			continue;
		if (!budget_take(&budget, name) ||
		    tables->symbols.count == SYMBOLS_MAX)
			break;
		symbol = add_symbol(&tables->symbols, name, &elf);
		symbol->exported = symbol->global;
		version = dynsym_version(dynsym, i, &symbol->hidden_version);
		if (version)
			symbol->version = version->name;
	}
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

bool image_add_symtab(const struct image *image, const struct source *source,
		      const struct sections *sections, struct blob *strings)
{
	const struct section *symtab = sections_find_type(sections, SHT_SYMTAB);
	const struct section *strtab;
	struct symbol_list *symbols = &image->tables->symbols;
	const unsigned word_size = image_word_size(image);
	size_t before = symbols->count;
	struct name_budget budget;
	struct table table;
	struct cursor c;
	uint64_t i;

	strtab = symtab ? sections_linked(sections, symtab) : NULL;
	if (!strtab || strtab->type != SHT_STRTAB)
		return false;
	blob_load(strings, source, strtab->offset, strtab->size);
	table_init(&table, source, symtab->offset, symtab->size,
		   elf_symbol_size(word_size));
	budget = name_budget(table.count, strings);
	for (i = 1; table_get(&table, i, &c); i++) {
		struct elf_symbol elf = elf_symbol(&c, word_size);
		const char *name = blob_string(strings, elf.name);

		if (!name || !is_function(image, &elf))
			continue;
		if (!budget_take(&budget, name) ||
		    symbols->count == SYMBOLS_MAX)
			break;
		cut_version(strings, elf.name);
		if (*name)
			add_symbol(symbols, name, &elf);
	}
	return symbols->count > before;
}
