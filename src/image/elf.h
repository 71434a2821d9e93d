/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_ELF_H
#define CALLTRAP_IMAGE_ELF_H

#include <stdbool.h>

#include "base/types.h"
#include "image/source.h"
#include "sysdeps/arch.h"

/* What of the headers libelf leaves to be checked. */

struct elf_header {
	const struct arch_ops *arch;
	uint16_t type;
	uint64_t entry;
	uint64_t program_offset;
};

/* -ENOEXEC when it is of a machine that calltrap has no port to. */
int elf_read_header(const struct source *source,
		    struct elf_header *ret) MUST_CHECK;

/* The program header of an index; false behind the last one. */
bool elf_program_header(const struct source *source, size_t index,
			GElf_Phdr *ret);

/*
 * The build-id among notes, which lives as long as the source; or NULL. align
 * is that of the segment or section. Notes are kept once they were read, so
 * none are when they are more than what is left of NOTES_MAX.
 */
#define NOTES_MAX (1u << 20)
const uint8_t *elf_build_id(const struct source *source, uint64_t offset,
			    uint64_t size, uint64_t align, uint64_t *left,
			    size_t *size_ret);

#endif
