/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "base/xalloc.h"
#include "image/private.h"

/* A DT_NEEDED for each library; nobody has that many. */
#define DYNAMIC_MAX 16384

#define SONAME_MAX 4096

static bool read_entry(const struct image *image, size_t index, GElf_Dyn *ret)
{
	return gelf_getdyn(image->dynamic, index, ret);
}

static void read_entries(struct image *image)
{
	size_t size = gelf_fsize(image->source.elf, ELF_T_DYN, DYNAMIC_MAX,
				 EV_CURRENT);
	GElf_Dyn entry;
	size_t i;

	if (size > image->dynamic_size)
		size = image->dynamic_size;
	image->dynamic =
		image_chunk(image, image->dynamic_address, size, ELF_T_DYN);
	for (i = 0; read_entry(image, i, &entry); i++)
		if (entry.d_tag == DT_NULL)
			break;
	image->dynamic_count = i;
}

static void read_soname(struct image *image)
{
	uint64_t name = image_dynamic_value(image, DT_SONAME);
	struct blob blob;

	if (!name || name >= image_dynamic_value(image, DT_STRSZ))
		return;
	image_blob(image, image_dynamic_pointer(image, DT_STRTAB) + name,
		   SONAME_MAX, &blob);
	if (blob.size)
		image->soname = xstrdup((const char *)blob.bytes);
	blob_fini(&blob);
}

void image_read_dynamic(struct image *image)
{
	if (!image->dynamic_address)
		return;
	read_entries(image);
	read_soname(image);
}

uint64_t image_dynamic_value(const struct image *image, uint64_t tag)
{
	GElf_Dyn entry;
	size_t i;

	for (i = image->dynamic_count; i-- > 0;)
		if (read_entry(image, i, &entry) &&
		    (uint64_t)entry.d_tag == tag)
			return entry.d_un.d_val;
	return 0;
}

/*
 * glibc adds the bias to most, but not all, pointers of PT_DYNAMIC in place
 * (elf/get-dynamic-info.h); musl to none. What is no address of the image
 * but would be one without the bias, is biased.
 */
uint64_t image_dynamic_pointer(const struct image *image, uint64_t tag)
{
	uint64_t pointer = image_dynamic_value(image, tag);

	if (pointer && image->bias && !image_segment_at(image, pointer) &&
	    image_segment_at(image, pointer - image->bias))
		return pointer - image->bias;
	return pointer;
}

bool image_is_dynamic(const struct image *image)
{
	return image->dynamic_address;
}

uint64_t image_dynamic_address(const struct image *image)
{
	return image->dynamic_address;
}

uint64_t image_got_address(const struct image *image)
{
	return image_dynamic_pointer(image, DT_PLTGOT);
}

const char *image_soname(const struct image *image)
{
	return image->soname;
}
