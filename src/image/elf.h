/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_ELF_H
#define CALLTRAP_IMAGE_ELF_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/types.h"
#include "image/source.h"
#include "sysdeps/arch.h"

/* The records of ELF, both classes, as one form each. */

struct elf_header {
	const struct arch_ops *arch;
	uint16_t type;
	uint64_t entry;
	uint64_t program_offset;
	uint64_t section_offset;
	uint16_t program_entry_size;
	uint16_t program_count;
	uint16_t section_entry_size;
	uint16_t section_count;
	uint16_t section_names; /* index of the section that holds them */
};

struct elf_program_header {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t file_size;
	uint64_t memory_size;
	uint64_t align;
};

struct elf_symbol {
	uint32_t name;
	uint8_t type;
	uint8_t binding;
	uint16_t section;
	uint64_t value;
	uint64_t size;
};

struct elf_relocation {
	uint64_t offset;
	uint64_t symbol; /* index */
	uint32_t type;
	uint64_t addend; /* 0 in REL form */
};

/* -ENOEXEC when it is none, or of a machine that calltrap has no port to. */
int elf_read_header(const struct source *source,
		    struct elf_header *ret) MUST_CHECK;

/* These say how large a record is; 0 as found in the file will not do. */
uint32_t elf_program_header_size(unsigned word_size);
uint32_t elf_symbol_size(unsigned word_size);
uint32_t elf_relocation_size(unsigned word_size, bool addends);

struct elf_program_header elf_program_header(struct cursor *c,
					     unsigned word_size);
struct elf_symbol elf_symbol(struct cursor *c, unsigned word_size);
struct elf_relocation elf_relocation(struct cursor *c, unsigned word_size,
				     bool addends);

/*
 * The build-id among notes, in place, or NULL. align is that of the segment
 * or section.
 */
const uint8_t *elf_build_id(struct cursor notes, uint64_t align,
			    size_t *size_ret);

#endif
