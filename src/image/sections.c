/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static void set_section(struct section *section, const GElf_Shdr *header)
{
	*section = (struct section){
		.name = "",
		.type = header->sh_type,
		.flags = header->sh_flags,
		.address = header->sh_addr,
		.offset = header->sh_offset,
		.size = header->sh_type == SHT_NOBITS ? 0 : header->sh_size,
		.link = header->sh_link,
		.align = header->sh_addralign,
	};
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

/* libelf takes the headers' size for granted. */
static size_t count_sections(Elf *elf)
{
	GElf_Ehdr header;
	size_t count;

	if (!gelf_getehdr(elf, &header) ||
	    header.e_shentsize != gelf_fsize(elf, ELF_T_SHDR, 1, EV_CURRENT) ||
	    elf_getshdrnum(elf, &count))
		return 0;
	return count;
}

void sections_init(struct sections *sections, const struct source *source)
{
	const size_t count = count_sections(source->elf);
	CLEANUP(xfree_cleanup) uint32_t *names = xcalloc(count, sizeof(*names));
	size_t names_index, i;
	GElf_Shdr header;

	*sections = (struct sections){
		.list = xcalloc(count, sizeof(*sections->list)),
	};
	for (i = 0; i < count; i++) {
		if (!gelf_getshdr(elf_getscn(source->elf, i), &header))
			break;
		names[i] = header.sh_name;
		set_section(&sections->list[i], &header);
	}
	sections->count = i;
	if (!elf_getshdrstrndx(source->elf, &names_index) && names_index < i)
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
