/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

static bool is_identified(const uint8_t *ident)
{
	return !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_DATA] == ELFDATA2LSB && ident[EI_VERSION] == EV_CURRENT;
}

int elf_read_header(const struct source *source, struct elf_header *ret)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	size_t n = source_read(source, 0, bytes, sizeof(bytes));
	struct cursor c = cursor_of(bytes, n);
	const uint8_t *ident = cursor_bytes(&c, EI_NIDENT);
	struct elf_header header;
	unsigned word_size;

	if (!ident || !is_identified(ident))
		return -ENOEXEC;
	header.type = cursor_u16(&c);
	header.arch = arch_of_elf(cursor_u16(&c), ident[EI_CLASS]);
	if (!header.arch)
		return -ENOEXEC;
	word_size = header.arch->word_size;
	cursor_skip(&c, 4); /* e_version */
	header.entry = cursor_word(&c, word_size);
	header.program_offset = cursor_word(&c, word_size);
	header.section_offset = cursor_word(&c, word_size);
	cursor_skip(&c, 4 + 2); /* e_flags, e_ehsize */
	header.program_entry_size = cursor_u16(&c);
	header.program_count = cursor_u16(&c);
	header.section_entry_size = cursor_u16(&c);
	header.section_count = cursor_u16(&c);
	header.section_names = cursor_u16(&c);
	if (c.bad)
		return -ENOEXEC;
	*ret = header;
	return 0;
}

uint32_t elf_program_header_size(unsigned word_size)
{
	return word_size == 4 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}

uint32_t elf_symbol_size(unsigned word_size)
{
	return word_size == 4 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

uint32_t elf_relocation_size(unsigned word_size, bool addends)
{
	return word_size * (addends ? 3 : 2);
}

struct elf_program_header elf_program_header(struct cursor *c,
					     unsigned word_size)
{
	struct elf_program_header header;

	header.type = cursor_u32(c);
	if (word_size == 8)
		header.flags = cursor_u32(c);
	header.offset = cursor_word(c, word_size);
	header.address = cursor_word(c, word_size);
	cursor_skip(c, word_size); /* p_paddr */
	header.file_size = cursor_word(c, word_size);
	header.memory_size = cursor_word(c, word_size);
	if (word_size == 4)
		header.flags = cursor_u32(c);
	header.align = cursor_word(c, word_size);
	return header;
}

struct elf_symbol elf_symbol(struct cursor *c, unsigned word_size)
{
	struct elf_symbol symbol;
	uint8_t info;

	symbol.name = cursor_u32(c);
	if (word_size == 4) {
		symbol.value = cursor_u32(c);
		symbol.size = cursor_u32(c);
	}
	info = cursor_u8(c);
	cursor_skip(c, 1); /* st_other */
	symbol.section = cursor_u16(c);
	if (word_size == 8) {
		symbol.value = cursor_u64(c);
		symbol.size = cursor_u64(c);
	}
	symbol.type = ELF64_ST_TYPE(info);
	symbol.binding = ELF64_ST_BIND(info);
	return symbol;
}

struct elf_relocation elf_relocation(struct cursor *c, unsigned word_size,
				     bool addends)
{
	struct elf_relocation relocation = { 0 };
	uint64_t info;

	relocation.offset = cursor_word(c, word_size);
	info = cursor_word(c, word_size);
	if (addends)
		relocation.addend = cursor_word(c, word_size);
	if (word_size == 4) {
		relocation.symbol = ELF32_R_SYM(info);
		relocation.type = ELF32_R_TYPE(info);
	} else {
		relocation.symbol = ELF64_R_SYM(info);
		relocation.type = ELF64_R_TYPE(info);
	}
	return relocation;
}

const uint8_t *elf_build_id(struct cursor notes, uint64_t align,
			    size_t *size_ret)
{
	const uint64_t mask = align == 8 ? 7 : 3;

	while (!cursor_at_end(&notes)) {
		uint64_t name_size = cursor_u32(&notes);
		uint64_t size = cursor_u32(&notes);
		uint32_t type = cursor_u32(&notes);
		const uint8_t *name = cursor_bytes(&notes, name_size);
		const uint8_t *id;

		cursor_skip(&notes, -notes.position & mask);
		id = cursor_bytes(&notes, size);
		if (id && size && type == NT_GNU_BUILD_ID &&
		    name_size == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*size_ret = size;
			return id;
		}
		cursor_skip(&notes, -notes.position & mask);
	}
	return NULL;
}
