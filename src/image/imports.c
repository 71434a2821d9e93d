/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "image/private.h"

/* A hundred times what the largest binaries have. */
#define IMPORTS_MAX (1u << 20)

/*
 * Tables may overlap: how many relocations are looked at in all. A browser
 * has a million.
 */
#define RELOCATIONS_MAX (1u << 22)

struct relocated {
	struct import import;
	uint64_t value; /* of the symbol when it is undefined here */
};

struct import_list {
	struct relocated *list;
	size_t count;
	size_t room;
	uint64_t looked_at;
};

static bool kind_of(const struct image *image, uint32_t type,
		    enum import_kind *ret)
{
	const struct arch_ops *arch = image_arch(image);

	*ret = type == arch->jump_slot ? IMPORT_JUMP_SLOT :
	       type == arch->glob_dat  ? IMPORT_GLOB_DAT :
					 IMPORT_IRELATIVE;
	return type == arch->jump_slot || type == arch->glob_dat ||
	       type == arch->irelative;
}

static bool may_be_function(const GElf_Sym *symbol)
{
	const unsigned type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC;
}

static bool import_by_symbol(const struct image *image, uint64_t index,
			     struct relocated *ret)
{
	struct import *import = &ret->import;
	struct dynsym *dynsym = &image->tables->dynsym;
	const struct version *version;
	GElf_Sym symbol;
	bool hidden;

	if (!dynsym_get(dynsym, index, &symbol, &import->name) ||
	    !may_be_function(&symbol))
		return false;
	version = dynsym_version(dynsym, index, &hidden);
	if (version) {
		import->version = version->name;
		import->library = version->library;
	}
	import->weak = GELF_ST_BIND(symbol.st_info) == STB_WEAK;
	if (symbol.st_shndx == SHN_UNDEF &&
	    image_is_code(image, symbol.st_value))
		ret->value = symbol.st_value;
	return true;
}

/*
 * In REL form the addend is what the slot holds, until it is relocated: an
 * image from memory doesn't tell any more.
 */
static uint64_t resolver(const struct image *image, const GElf_Rela *relocation,
			 bool addends)
{
	uint64_t value = 0;

	if (addends)
		return relocation->r_addend;
	if (!image->from_memory &&
	    image_read(image, relocation->r_offset, &value,
		       image_word_size(image)) != image_word_size(image))
		return 0;
	return value;
}

static void add_relocation(const struct image *image,
			   struct import_list *imports,
			   const GElf_Rela *relocation, bool addends)
{
	struct relocated new = { .import.slot = relocation->r_offset };

	if (imports->count == IMPORTS_MAX ||
	    !kind_of(image, GELF_R_TYPE(relocation->r_info),
		     &new.import.kind) ||
	    !image_segment_at(image, relocation->r_offset))
		return;
	if (new.import.kind == IMPORT_IRELATIVE) {
		new.import.name = "";
		new.import.resolver = resolver(image, relocation, addends);
	} else if (!import_by_symbol(image, GELF_R_SYM(relocation->r_info),
				     &new)) {
		return;
	}
	imports->list = xgrow(imports->list, imports->count, &imports->room,
			      sizeof(*imports->list));
	imports->list[imports->count++] = new;
}

static void add_relocations(const struct image *image,
			    struct import_list *imports, uint64_t address,
			    uint64_t size, Elf_Type type)
{
	CLEANUP(table_fini) struct table table;
	GElf_Rela relocation;
	uint64_t i;

	image_table(image, address, size, type, &table);
	for (i = 0; table_relocation(&table, i, &relocation) &&
		    imports->looked_at++ < RELOCATIONS_MAX;
	     i++)
		add_relocation(image, imports, &relocation, type == ELF_T_RELA);
}

static void add_dynamic(const struct image *image, struct import_list *imports,
			uint64_t address_tag, uint64_t size_tag, Elf_Type type)
{
	add_relocations(image, imports,
			image_dynamic_pointer(image, address_tag),
			image_dynamic_value(image, size_tag), type);
}

/* A static binary relocates itself; only section headers say with what. */
static void add_sections(const struct image *image, struct import_list *imports)
{
	const struct sections *sections = &image->tables->sections;
	size_t i;

	for (i = 0; i < sections->count; i++) {
		const struct section *section = &sections->list[i];

		if (section->flags & SHF_ALLOC &&
		    (section->type == SHT_RELA || section->type == SHT_REL))
			add_relocations(image, imports, section->address,
					section->size,
					section->type == SHT_RELA ? ELF_T_RELA :
								    ELF_T_REL);
	}
}

static int compare_slots(const void *left, const void *right)
{
	const struct relocated *a = left, *b = right;

	if (a->import.slot == b->import.slot)
		return 0;
	return a->import.slot < b->import.slot ? -1 : 1;
}

/* One for each slot: DT_RELA's table may include that of DT_JMPREL. */
static void settle(const struct image *image, struct import_list *imports)
{
	struct tables *tables = image->tables;
	CLEANUP(xfree_cleanup) uint64_t *values = NULL;
	size_t i, n = 0;

	if (imports->count)
		qsort(imports->list, imports->count, sizeof(*imports->list),
		      compare_slots);
	values = xcalloc(imports->count, sizeof(*values));
	tables->imports = xcalloc(imports->count, sizeof(*tables->imports));
	for (i = 0; i < imports->count; i++) {
		const struct relocated *new = &imports->list[i];

		if (n && tables->imports[n - 1].slot == new->import.slot)
			continue;
		tables->imports[n] = new->import;
		values[n++] = new->value;
	}
	tables->import_count = n;
	image_find_stubs(image, tables->imports, values, n);
}

static void collect(const struct image *image, struct import_list *imports)
{
	bool addends = image_dynamic_value(image, DT_PLTREL) == DT_RELA;

	if (!image_is_dynamic(image)) {
		add_sections(image, imports);
		return;
	}
	add_dynamic(image, imports, DT_JMPREL, DT_PLTRELSZ,
		    addends ? ELF_T_RELA : ELF_T_REL);
	add_dynamic(image, imports, DT_RELA, DT_RELASZ, ELF_T_RELA);
	add_dynamic(image, imports, DT_REL, DT_RELSZ, ELF_T_REL);
}

const struct import *image_imports(const struct image *image, size_t *count_ret)
{
	struct tables *tables = image_basis(image);

	if (!tables->has_imports) {
		struct import_list imports = { 0 };

		tables->has_imports = true;
		collect(image, &imports);
		settle(image, &imports);
		free(imports.list);
		image_name_irelative(image);
		diag_debug(DIAG_MODULE, "%s: %zu imports", image->name,
			   tables->import_count);
	}
	*count_ret = tables->import_count;
	return tables->imports;
}
