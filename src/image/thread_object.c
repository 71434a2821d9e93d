/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <string.h>

#include "image/private.h"

/* A browser has a million. */
#define RELOCATIONS_MAX (1u << 22)

static bool find_symbol(const struct image *image, const char *name,
			uint64_t *index_ret, uint64_t *offset_ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	const char *found;
	GElf_Sym symbol;
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		if (!dynsym_get(dynsym, i, &symbol, &found) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_TLS ||
		    symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_BIND(symbol.st_info) == STB_LOCAL ||
		    strcmp(found, name) != 0 ||
		    symbol.st_value >= image->tls_size)
			continue;
		*index_ret = i;
		*offset_ret = symbol.st_value;
		return true;
	}
	return false;
}

/* Symbol 0 stands for the image itself. */
static bool is_own(const struct image *image, uint64_t index)
{
	struct dynsym *dynsym = &image->tables->dynsym;
	const char *name;
	GElf_Sym symbol;

	if (!index)
		return true;
	return dynsym_get(dynsym, index, &symbol, &name) &&
	       symbol.st_shndx != SHN_UNDEF;
}

/* How far the variable is from what the slot was filled with. */
static uint64_t behind(const GElf_Rela *relocation,
		       const struct image_thread_object *object)
{
	const uint64_t back = -(uint64_t)relocation->r_addend;

	return GELF_R_SYM(relocation->r_info) ? back : back + object->offset;
}

/* In REL form, what is to be added to a place has been overwritten. */
static void look_at(const struct image *image, const GElf_Rela *relocation,
		    bool addends, uint64_t index,
		    struct image_thread_object *ret)
{
	const struct arch_ops *arch = image_arch(image);
	const uint64_t symbol = GELF_R_SYM(relocation->r_info);
	const uint32_t type = GELF_R_TYPE(relocation->r_info);

	if (!image_segment_at(image, relocation->r_offset))
		return;
	if (type == arch->tls_place && addends &&
	    (!symbol || symbol == index)) {
		ret->place_slot = relocation->r_offset;
		ret->behind_place = behind(relocation, ret);
	}
	if (arch->tls_descriptor && type == arch->tls_descriptor && addends &&
	    (!symbol || symbol == index)) {
		ret->descriptor_slot = relocation->r_offset;
		ret->behind_descriptor = behind(relocation, ret);
	}
	if (type == arch->tls_module && is_own(image, symbol))
		ret->number_slot = relocation->r_offset;
}

static void look_in(const struct image *image, uint64_t address_tag,
		    uint64_t size_tag, bool addends, uint64_t index,
		    struct image_thread_object *ret)
{
	CLEANUP(table_fini) struct table table;
	GElf_Rela relocation;
	uint64_t i;

	image_table(image, image_dynamic_pointer(image, address_tag),
		    image_dynamic_value(image, size_tag),
		    addends ? ELF_T_RELA : ELF_T_REL, &table);
	for (i = 0;
	     i < RELOCATIONS_MAX && table_relocation(&table, i, &relocation);
	     i++)
		look_at(image, &relocation, addends, index, ret);
}

bool image_find_thread_object(const struct image *image, const char *name,
			      struct image_thread_object *ret)
{
	struct image_thread_object object = {
		.block_size = image->tls_size,
		.block_align = image->tls_align,
	};
	uint64_t index;

	if (!find_symbol(image, name, &index, &object.offset))
		return false;
	look_in(image, DT_RELA, DT_RELASZ, true, index, &object);
	look_in(image, DT_JMPREL, DT_PLTRELSZ,
		image_dynamic_value(image, DT_PLTREL) == DT_RELA, index,
		&object);
	look_in(image, DT_REL, DT_RELSZ, false, index, &object);
	*ret = object;
	return true;
}
