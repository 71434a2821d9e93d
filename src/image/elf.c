/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf.h"

#include <errno.h>
#include <string.h>

static bool is_identified(const GElf_Ehdr *header)
{
	return header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_ident[EI_VERSION] == EV_CURRENT;
}

int elf_read_header(const struct source *source, struct elf_header *ret)
{
	const struct arch_ops *arch;
	GElf_Ehdr header;

	if (!gelf_getehdr(source->elf, &header) || !is_identified(&header))
		return -ENOEXEC;
	arch = arch_of_elf(header.e_machine, header.e_ident[EI_CLASS]);
	if (!arch)
		return -ENOEXEC;
	*ret = (struct elf_header){
		.arch = arch,
		.type = header.e_type,
		.entry = header.e_entry,
		.program_offset = header.e_phoff,
	};
	return 0;
}

/* libelf takes their size for granted. */
bool elf_program_header(const struct source *source, size_t index,
			GElf_Phdr *ret)
{
	GElf_Ehdr header;
	size_t count;

	return gelf_getehdr(source->elf, &header) &&
	       header.e_phentsize ==
		       gelf_fsize(source->elf, ELF_T_PHDR, 1, EV_CURRENT) &&
	       !elf_getphdrnum(source->elf, &count) && index < count &&
	       gelf_getphdr(source->elf, index, ret);
}

static bool is_build_id(const GElf_Nhdr *note, const char *name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_descsz &&
	       note->n_namesz == sizeof(ELF_NOTE_GNU) &&
	       !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
}

/* libelf keeps some words about each part; and it finds those by counting. */
#define PART_COST 4096

static Elf_Data *read_notes(const struct source *source, uint64_t offset,
			    uint64_t size, uint64_t align, uint64_t *left)
{
	if (*left < PART_COST || size > *left - PART_COST)
		return NULL;
	*left -= PART_COST + size;
	return source_chunk(source, offset, size,
			    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
}

const uint8_t *elf_build_id(const struct source *source, uint64_t offset,
			    uint64_t size, uint64_t align, uint64_t *left,
			    size_t *size_ret)
{
	Elf_Data *notes = read_notes(source, offset, size, align, left);
	size_t at = 0, name, id;
	GElf_Nhdr note;

	while ((at = gelf_getnote(notes, at, &note, &name, &id))) {
		const char *bytes = notes->d_buf;

		if (!is_build_id(&note, bytes + name))
			continue;
		*size_ret = note.n_descsz;
		return (const uint8_t *)bytes + id;
	}
	return NULL;
}
