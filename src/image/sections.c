/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* More are found in object files only. */
#define SECTIONS_MAX 65536

/* What a header holds besides: where an overflowing count has its place. */
struct raw_section {
	uint32_t name;
	struct section section;
};

static struct raw_section raw_section(struct cursor *c, unsigned word_size)
{
	struct raw_section raw;
	struct section *section = &raw.section;

	raw.name = cursor_u32(c);
	section->name = "";
	section->type = cursor_u32(c);
	section->flags = cursor_word(c, word_size);
	section->address = cursor_word(c, word_size);
	section->offset = cursor_word(c, word_size);
	section->size = cursor_word(c, word_size);
	section->link = cursor_u32(c);
	cursor_skip(c, 4); /* sh_info */
	section->align = cursor_word(c, word_size);
	return raw;
}

static bool open_table(struct table *table, const struct source *source,
		       const struct elf_header *header, uint64_t count)
{
	uint32_t size = header->arch->word_size == 4 ? sizeof(Elf32_Shdr) :
						       sizeof(Elf64_Shdr);

	if (!header->section_offset || header->section_entry_size != size)
		return false;
	table_init(table, source, header->section_offset, count * size, size);
	return table->count == count;
}

/*
 * Counts that are too large for the ELF header are in the first section
 * header (System V gABI, "ELF Header": e_shnum, e_shstrndx).
 */
static bool real_counts(const struct source *source,
			const struct elf_header *header, uint64_t *count_ret,
			uint64_t *names_ret)
{
	struct table table;
	struct raw_section first;
	struct cursor c;

	if (!open_table(&table, source, header, 1) ||
	    !table_get(&table, 0, &c))
		return false;
	first = raw_section(&c, header->arch->word_size);
	*count_ret = header->section_count ? header->section_count :
					     first.section.size;
	*names_ret = header->section_names == SHN_XINDEX ?
			     first.section.link :
			     header->section_names;
	return *count_ret && *count_ret <= SECTIONS_MAX &&
	       *names_ret < *count_ret;
}

static void set_names(struct sections *sections, const uint32_t *names)
{
	size_t i;

	for (i = 0; i < sections->count; i++) {
		const char *name = blob_string(&sections->names, names[i]);

		if (name)
			sections->list[i].name = name;
	}
}

void sections_init(struct sections *sections, const struct source *source,
		   const struct elf_header *header)
{
	CLEANUP(xfree_cleanup) uint32_t *names = NULL;
	uint64_t count, names_index, i;
	struct table table;
	struct cursor c;

	*sections = (struct sections){ 0 };
	if (!real_counts(source, header, &count, &names_index) ||
	    !open_table(&table, source, header, count))
		return;
	names = xcalloc(count, sizeof(*names));
	sections->list = xcalloc(count, sizeof(*sections->list));
	for (i = 0; i < count && table_get(&table, i, &c); i++) {
		struct raw_section raw =
			raw_section(&c, header->arch->word_size);

		if (raw.section.type == SHT_NOBITS)
			raw.section.size = 0;
		names[i] = raw.name;
		sections->list[i] = raw.section;
	}
	sections->count = i;
	if (names_index < i)
		blob_load(&sections->names, source,
			  sections->list[names_index].offset,
			  sections->list[names_index].size);
	set_names(sections, names);
}

void sections_fini(struct sections *sections)
{
	free(sections->list);
	blob_fini(&sections->names);
	*sections = (struct sections){ 0 };
}

const struct section *sections_find(const struct sections *sections,
				    const char *name)
{
	size_t i;

	for (i = 0; i < sections->count; i++)
		if (!strcmp(sections->list[i].name, name))
			return &sections->list[i];
	return NULL;
}

const struct section *sections_find_type(const struct sections *sections,
					 uint32_t type)
{
	size_t i;

	for (i = 0; i < sections->count; i++)
		if (sections->list[i].type == type)
			return &sections->list[i];
	return NULL;
}

const struct section *sections_linked(const struct sections *sections,
				      const struct section *section)
{
	return section->link < sections->count ?
		       &sections->list[section->link] :
		       NULL;
}
