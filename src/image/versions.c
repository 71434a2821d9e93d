/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "base/xalloc.h"
#include "image/private.h"

/* libc.so.6's are below 4 KiB. */
#define VERSIONS_MAX (128u << 10)

/* Bit 15 of an index says "hidden" (gABI supplement, symbol versioning). */
#define INDEX_MASK 0x7fff

static void set_version(struct dynsym *dynsym, unsigned index,
			uint64_t name, const char *library)
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
static void read_need(struct dynsym *dynsym, struct cursor c, uint64_t at,
		      unsigned count, const char *library, unsigned *budget)
{
	while (count-- && *budget && --*budget) {
		unsigned other;
		uint32_t name, next;

		cursor_seek(&c, at);
		cursor_skip(&c, 4 + 2); /* vna_hash, vna_flags */
		other = cursor_u16(&c);
		name = cursor_u32(&c);
		next = cursor_u32(&c);
		if (c.bad)
			return;
		set_version(dynsym, other, name, library);
		if (!next)
			return;
		at += next;
	}
}

static void read_needs(struct dynsym *dynsym, struct cursor c)
{
	unsigned budget = 2 * INDEX_MASK;
	uint64_t at = 0;

	while (budget && --budget) {
		unsigned count;
		uint32_t file, aux, next;

		cursor_seek(&c, at);
		cursor_skip(&c, 2); /* vn_version */
		count = cursor_u16(&c);
		file = cursor_u32(&c);
		aux = cursor_u32(&c);
		next = cursor_u32(&c);
		if (c.bad)
			return;
		read_need(dynsym, c, at + aux, count,
			  blob_string(&dynsym->strings, file), &budget);
		if (!next)
			return;
		at += next;
	}
}

static void read_definitions(struct dynsym *dynsym, struct cursor c)
{
	unsigned budget = 2 * INDEX_MASK;
	uint64_t at = 0;

	while (budget--) {
		unsigned flags, index;
		uint32_t aux, next, name;

		cursor_seek(&c, at);
		cursor_skip(&c, 2); /* vd_version */
		flags = cursor_u16(&c);
		index = cursor_u16(&c);
		cursor_skip(&c, 2 + 4); /* vd_cnt, vd_hash */
		aux = cursor_u32(&c);
		next = cursor_u32(&c);
		cursor_seek(&c, at + aux);
		name = cursor_u32(&c);
		if (c.bad)
			return;
		/* The base version is the file itself: no symbol's version. */
		if (!(flags & VER_FLG_BASE))
			set_version(dynsym, index, name, NULL);
		if (!next)
			return;
		at += next;
	}
}

void dynsym_read_versions(struct dynsym *dynsym, const struct image *image)
{
	struct blob blob;

	image_blob(image, image_dynamic_pointer(image, DT_VERNEED),
		   VERSIONS_MAX, &blob);
	read_needs(dynsym, blob_cursor(&blob));
	blob_fini(&blob);
	image_blob(image, image_dynamic_pointer(image, DT_VERDEF),
		   VERSIONS_MAX, &blob);
	read_definitions(dynsym, blob_cursor(&blob));
	blob_fini(&blob);
}
