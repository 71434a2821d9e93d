/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "image/private.h"

/* Variables by their address. Few are asked about, so no table is made. */

static bool holds(const GElf_Sym *symbol, uint64_t address)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT &&
	       symbol->st_shndx != SHN_UNDEF &&
	       address - symbol->st_value < symbol->st_size;
}

static void take(const char *name, const GElf_Sym *symbol, uint64_t address,
		 struct image_datum *ret)
{
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, "@"),
		 name);
	ret->offset = address - symbol->st_value;
}

static bool find_exported(const struct image *image, uint64_t address,
			  struct image_datum *ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	const char *name;
	GElf_Sym symbol;

	for (uint64_t i = 1; i < dynsym->count; i++) {
		if (!dynsym_get(dynsym, i, &symbol, &name) || !*name ||
		    !holds(&symbol, address))
			continue;
		take(name, &symbol, address, ret);
		return true;
	}
	return false;
}

static bool find_any(const struct image *image, uint64_t address,
		     struct image_datum *ret)
{
	const struct symtab *symtab = &image_basis(image)->symtab;
	CLEANUP(table_fini) struct table table = { 0 };
	char name[sizeof(ret->name)];
	GElf_Sym symbol;
	size_t length;

	if (!symtab->source)
		return false;
	symtab_entries(symtab, &table);
	for (uint64_t i = 1; table_symbol(&table, i, &symbol); i++) {
		if (!holds(&symbol, address) ||
		    symbol.st_name >= symtab->strings_size)
			continue;
		length = source_read(symtab->source,
				     symtab->strings + symbol.st_name, name,
				     sizeof(name) - 1);
		name[length] = '\0';
		if (!*name)
			continue;
		take(name, &symbol, address, ret);
		return true;
	}
	return false;
}

static void find_section(const struct image *image, uint64_t address,
			 struct image_datum *ret)
{
	const struct sections *sections = &image_basis(image)->sections;

	/* .bss has no bytes in the file, so it is the last that begins
	   before the address. */
	for (size_t i = 0; i < sections->count; i++) {
		const struct section *section = &sections->list[i];

		if (section->address && section->address <= address &&
		    !(section->flags & SHF_TLS) &&
		    (!*ret->section ||
		     address - section->address < ret->section_offset)) {
			snprintf(ret->section, sizeof(ret->section), "%s",
				 section->name);
			ret->section_offset = address - section->address;
		}
	}
}

bool image_describe_datum(const struct image *image, uint64_t address,
			  struct image_datum *ret)
{
	*ret = (struct image_datum){ .offset = 0 };
	if (!find_any(image, address, ret))
		(void)find_exported(image, address, ret);
	find_section(image, address, ret);
	return *ret->name || *ret->section;
}
