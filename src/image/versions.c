/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "base/xalloc.h"
#include "image/private.h"

/* libc.so.6's are below 4 KiB. */
#define VERSIONS_MAX (128u << 10)

/* Bit 15 of an index says "hidden" (gABI supplement, symbol versioning). */
#define INDEX_MASK 0x7fff

static void set_version(struct dynsym *dynsym, unsigned index, uint64_t name,
			const char *library)
{
	const char *text = blob_string(&dynsym->strings, name);

	index &= INDEX_MASK;
	if (!text)
		return;
	while (index >= dynsym->name_count) {
		dynsym->names = xgrow(dynsym->names, dynsym->name_count,
				      &dynsym->name_room,
				      sizeof(*dynsym->names));
		dynsym->names[dynsym->name_count++] = (struct version){ 0 };
	}
	dynsym->names[index] = (struct version){ text, library };
}

/*
 * Each record says how far the next one is; 0 ends. The offsets go forward
 * only, and budget bounds how many records that overlap are read.
 */
static void read_need(struct dynsym *dynsym, Elf_Data *data, uint64_t at,
		      const GElf_Verneed *need, unsigned *budget)
{
	const char *library = blob_string(&dynsym->strings, need->vn_file);
	unsigned count = need->vn_cnt;
	GElf_Vernaux entry;

	at += need->vn_aux;
	while (count-- && *budget && --*budget) {
		if (at > VERSIONS_MAX || !gelf_getvernaux(data, at, &entry))
			return;
		set_version(dynsym, entry.vna_other, entry.vna_name, library);
		if (!entry.vna_next)
			return;
		at += entry.vna_next;
	}
}

static void read_needs(struct dynsym *dynsym, Elf_Data *data)
{
	unsigned budget = 2 * INDEX_MASK;
	GElf_Verneed need;
	uint64_t at = 0;

	while (budget && --budget) {
		if (at > VERSIONS_MAX || !gelf_getverneed(data, at, &need))
			return;
		read_need(dynsym, data, at, &need, &budget);
		if (!need.vn_next)
			return;
		at += need.vn_next;
	}
}

static void read_definitions(struct dynsym *dynsym, Elf_Data *data)
{
	unsigned budget = 2 * INDEX_MASK;
	GElf_Verdef definition;
	GElf_Verdaux name;
	uint64_t at = 0;

	while (budget--) {
		if (at > VERSIONS_MAX ||
		    !gelf_getverdef(data, at, &definition) ||
		    definition.vd_aux > VERSIONS_MAX ||
		    !gelf_getverdaux(data, at + definition.vd_aux, &name))
			return;
		/* The base version is the file itself: no symbol's version. */
		if (!(definition.vd_flags & VER_FLG_BASE))
			set_version(dynsym, definition.vd_ndx, name.vda_name,
				    NULL);
		if (!definition.vd_next)
			return;
		at += definition.vd_next;
	}
}

void dynsym_read_versions(struct dynsym *dynsym, const struct image *image)
{
	read_needs(dynsym,
		   image_chunk(image, image_dynamic_pointer(image, DT_VERNEED),
			       VERSIONS_MAX, ELF_T_VNEED));
	read_definitions(dynsym,
			 image_chunk(image,
				     image_dynamic_pointer(image, DT_VERDEF),
				     VERSIONS_MAX, ELF_T_VDEF));
}
