/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "base/xalloc.h"
#include "image/private.h"

/* A DT_NEEDED for each library; nobody has that many. */
#define DYNAMIC_MAX 16384

#define SONAME_MAX 4096

static void read_entries(struct image *image)
{
	const unsigned word_size = image_word_size(image);
	struct table table;
	struct cursor c;
	uint64_t i;

	image_table(image, image->dynamic_address, image->dynamic_size,
		    2 * word_size, &table);
	if (table.count > DYNAMIC_MAX)
		table.count = DYNAMIC_MAX;
	image->dynamic = xcalloc(table.count, sizeof(*image->dynamic));
	for (i = 0; table_get(&table, i, &c); i++) {
		struct dynamic_entry *entry = &image->dynamic[i];

		entry->tag = cursor_word(&c, word_size);
		entry->value = cursor_word(&c, word_size);
		if (entry->tag == DT_NULL)
			break;
	}
	image->dynamic_count = i;
	image->dynamic = xreallocarray(image->dynamic, i,
				       sizeof(*image->dynamic));
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
	size_t i;

	for (i = image->dynamic_count; i-- > 0;)
		if (image->dynamic[i].tag == tag)
			return image->dynamic[i].value;
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
