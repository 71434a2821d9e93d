/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "image/private.h"

bool image_frame_header(const struct image *image, uint64_t *address_ret,
			uint64_t *size_ret)
{
	*address_ret = image->frame_header_address;
	*size_ret = image->frame_header_size;
	return image->frame_header_size;
}

bool image_has_section(const struct image *image, const char *name)
{
	return sections_find(&image_basis(image)->sections, name);
}

/* By the tables that it unwinds by; or, where a packer has left no section headers, by
   its functions: all symbols are read for that. */
bool image_is_go(const struct image *image)
{
	return image_has_section(image, ".gopclntab") ||
	       image_has_section(image, ".data.rel.ro.gopclntab") ||
	       (image_find_symbol(image, "runtime.newstack") &&
		image_find_symbol(image, "runtime.copystack"));
}

uint8_t *image_load_section(const struct image *image, const char *name,
			    uint64_t *address_ret, size_t *size_ret)
{
	const struct section *section =
		sections_find(&image_basis(image)->sections, name);
	struct blob blob;

	if (!section || section->type == SHT_NOBITS ||
	    section->flags & SHF_COMPRESSED)
		return NULL;
	blob_load(&blob, &image->source, section->offset, section->size);
	*address_ret = section->address;
	*size_ret = blob.size;
	return blob.bytes;
}
