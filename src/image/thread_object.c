/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <string.h>

#include "image/private.h"

/* A browser has a million. */
#define RELOCATIONS_MAX (1u << 22)

/* The relocations that the dynamic linker fills GOT entries by. */
static const struct thread_relocations {
	uint16_t machine;
	uint32_t number; /* of the module */
	uint32_t place;  /* from the thread pointer */
} relocations_of[] = {
	{ EM_X86_64, R_X86_64_DTPMOD64, R_X86_64_TPOFF64 },
	{ EM_386, R_386_TLS_DTPMOD32, R_386_TLS_TPOFF },
};

static const struct thread_relocations *relocations(const struct image *image)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(relocations_of); i++)
		if (relocations_of[i].machine ==
		    image_arch(image)->elf_machine)
			return &relocations_of[i];
	return NULL;
}

static bool find_symbol(const struct image *image, const char *name,
			uint64_t *index_ret, uint64_t *offset_ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		struct elf_symbol symbol;
		const char *found;

		if (!dynsym_get(dynsym, image_word_size(image), i, &symbol,
				&found) ||
		    symbol.type != STT_TLS || symbol.section == SHN_UNDEF ||
		    symbol.binding == STB_LOCAL || strcmp(found, name) != 0 ||
		    symbol.value >= image->tls_size)
			continue;
		*index_ret = i;
		*offset_ret = symbol.value;
		return true;
	}
	return false;
}

/* Symbol 0 stands for the image itself. */
static bool is_own(const struct image *image, uint64_t index)
{
	struct dynsym *dynsym = &image->tables->dynsym;
	struct elf_symbol symbol;
	const char *name;

	if (!index)
		return true;
	return dynsym_get(dynsym, image_word_size(image), index, &symbol,
			  &name) &&
	       symbol.section != SHN_UNDEF;
}

/* In REL form, what is to be added to a place has been overwritten. */
static void look_at(const struct image *image,
		    const struct elf_relocation *relocation, bool addends,
		    uint64_t index, struct image_thread_object *ret)
{
	const struct thread_relocations *types = relocations(image);

	if (!image_segment_at(image, relocation->offset))
		return;
	if (relocation->type == types->place && addends &&
	    (!relocation->symbol || relocation->symbol == index)) {
		ret->place_slot = relocation->offset;
		ret->behind_place = -relocation->addend;
		if (!relocation->symbol)
			ret->behind_place += ret->offset;
	}
	if (relocation->type == types->number &&
	    is_own(image, relocation->symbol))
		ret->number_slot = relocation->offset;
}

static void look_in(const struct image *image, uint64_t address_tag,
		    uint64_t size_tag, bool addends, uint64_t index,
		    struct image_thread_object *ret)
{
	const unsigned word_size = image_word_size(image);
	struct table table;
	struct cursor c;
	uint64_t i;

	image_table(image, image_dynamic_pointer(image, address_tag),
		    image_dynamic_value(image, size_tag),
		    elf_relocation_size(word_size, addends), &table);
	for (i = 0; i < RELOCATIONS_MAX && table_get(&table, i, &c); i++) {
		struct elf_relocation relocation =
			elf_relocation(&c, word_size, addends);

		look_at(image, &relocation, addends, index, ret);
	}
}

bool image_find_thread_object(const struct image *image, const char *name,
			      struct image_thread_object *ret)
{
	struct image_thread_object object = {
		.block_size = image->tls_size,
		.block_align = image->tls_align,
	};
	uint64_t index;

	if (!relocations(image) ||
	    !find_symbol(image, name, &index, &object.offset))
		return false;
	look_in(image, DT_RELA, DT_RELASZ, true, index, &object);
	look_in(image, DT_REL, DT_RELSZ, false, index, &object);
	*ret = object;
	return true;
}
