/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/xalloc.h"
#include "stack/cfi_check.h"
#include "stack/cfi_index.h"

/* Longer records are no compiler's: a function's takes a few hundred bytes. */
#define RECORD_MAX 65536

/* How .eh_frame_hdr begins (LSB core, "The .eh_frame_hdr section"). */
enum {
	HEADER_VERSION = 1,
	ENCODED_SDATA4_DATA_RELATIVE = 0x3b,
	ENCODED_FORMAT = 0x0f,
	ENCODED_SIZE_8 =
		4, /* the format of 8 bytes; signed ones have 8 added */
	ENCODED_SIZE_4 = 3,
};

struct cfi {
	const struct image *image;
	/* The linker's table … */
	uint64_t header;
	uint64_t table;
	uint64_t count;
	int32_t (*entries)[2]; /* all of it, if it is small; or NULL */
	/* … or our own. */
	struct cfi_index *index;
};

/* ---- the linker's table ---- */

static bool read_all(const struct cfi *cfi, uint64_t address, void *ret,
		     size_t size)
{
	return image_read(cfi->image, address, ret, size) == size;
}

/* Bytes of a number as encoded; 0 for what linkers don't write there. */
static unsigned encoded_size(uint8_t encoding)
{
	switch (encoding & ENCODED_FORMAT & ~8) {
	case ENCODED_SIZE_4:
		return 4;
	case ENCODED_SIZE_8:
		return 8;
	}
	return 0;
}

static bool use_header(struct cfi *cfi, uint64_t address, uint64_t size)
{
	unsigned pointer_size, count_size;
	uint8_t bytes[20];
	struct cursor c;

	if (size < sizeof(bytes) ||
	    !read_all(cfi, address, bytes, sizeof(bytes)))
		return false;
	pointer_size = encoded_size(bytes[1]);
	count_size = encoded_size(bytes[2]);
	if (bytes[0] != HEADER_VERSION || !pointer_size || !count_size ||
	    bytes[3] != ENCODED_SDATA4_DATA_RELATIVE)
		return false;
	c = cursor_of(bytes, sizeof(bytes));
	cursor_skip(&c, 4 + pointer_size);
	cfi->count = cursor_word(&c, count_size);
	cfi->header = address;
	cfi->table = address + 4 + pointer_size + count_size;
	size -= 4 + pointer_size + count_size;
	if (cfi->count > size / 8)
		cfi->count = size / 8;
	return cfi->count;
}

/* To read an entry takes a system call, and a search reads many. */
#define KEPT_MAX (1u << 20)

static void keep_table(struct cfi *cfi)
{
	const size_t size = cfi->count * sizeof(*cfi->entries);

	if (size > KEPT_MAX)
		return;
	cfi->entries = xmalloc(size);
	if (read_all(cfi, cfi->table, cfi->entries, size))
		return;
	free(cfi->entries);
	cfi->entries = NULL;
}

/* Both are relative to the header. */
static bool table_entry(const struct cfi *cfi, uint64_t i, uint64_t *start_ret,
			uint64_t *fde_ret)
{
	int32_t entry[2];

	if (cfi->entries)
		memcpy(entry, cfi->entries[i], sizeof(entry));
	else if (!read_all(cfi, cfi->table + i * sizeof(entry), entry,
			   sizeof(entry)))
		return false;
	*start_ret = cfi->header + entry[0];
	*fde_ret = cfi->header + entry[1];
	return true;
}

static bool find_in_table(const struct cfi *cfi, uint64_t address,
			  uint64_t *start_ret, uint64_t *fde_ret)
{
	uint64_t low = 0, high = cfi->count;

	/* The last one that begins at the address or before. */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!table_entry(cfi, middle, start_ret, fde_ret))
			return false;
		if (*start_ret <= address)
			low = middle;
		else
			high = middle;
	}
	return table_entry(cfi, low, start_ret, fde_ret) &&
	       *start_ret <= address;
}

/* ---- records ---- */

static size_t read_some(const struct cfi *cfi, uint64_t address, void *ret,
			size_t size)
{
	return cfi->index ? cfi_index_read(cfi->index, address, ret, size) :
			    image_read(cfi->image, address, ret, size);
}

/*
 * A record of the 32-bit form; nobody writes the 64-bit one for less than
 * 4 GiB of records.
 */
static bool load_record(const struct cfi *cfi, uint64_t address,
			struct cfi_record *ret)
{
	uint32_t length;

	if (read_some(cfi, address, &length, 4) != 4 || length < 8 ||
	    length > RECORD_MAX)
		return false;
	ret->size = length + 4;
	ret->bytes = xmalloc(ret->size);
	ret->address = address;
	if (read_some(cfi, address, ret->bytes, ret->size) == ret->size)
		return true;
	free(ret->bytes);
	ret->bytes = NULL;
	return false;
}

/* The CIE's place is told as the distance back from where that is written. */
static bool load_cie(const struct cfi *cfi, struct cfi_entry *entry)
{
	struct cursor c = cursor_of(entry->fde.bytes, entry->fde.size);
	uint32_t distance;

	cursor_skip(&c, 4);
	distance = cursor_u32(&c);
	return distance &&
	       load_record(cfi, entry->fde.address + 4 - distance, &entry->cie);
}

bool cfi_find(const struct cfi *cfi, uint64_t address, struct cfi_entry *ret)
{
	uint64_t fde;
	bool found;

	*ret = (struct cfi_entry){ 0 };
	found = cfi->index ?
			cfi_index_find(cfi->index, address, &ret->start, &fde) :
			find_in_table(cfi, address, &ret->start, &fde);
	if (found && load_record(cfi, fde, &ret->fde) && load_cie(cfi, ret) &&
	    cfi_check(ret, image_arch(cfi->image)))
		return true;
	cfi_entry_fini(ret);
	return false;
}

void cfi_entry_fini(struct cfi_entry *entry)
{
	free(entry->fde.bytes);
	free(entry->cie.bytes);
	*entry = (struct cfi_entry){ 0 };
}

/* ---- the whole ---- */

static struct cfi *new_with_index(const struct image *image,
				  struct cfi_index *index)
{
	struct cfi *cfi = NULL;

	if (index) {
		cfi = xcalloc(1, sizeof(*cfi));
		cfi->image = image;
		cfi->index = index;
	}
	return cfi;
}

struct cfi *cfi_new(const struct image *image)
{
	struct cfi *cfi = xcalloc(1, sizeof(*cfi));
	uint64_t address, size;

	cfi->image = image;
	if (image_frame_header(image, &address, &size) &&
	    use_header(cfi, address, size)) {
		keep_table(cfi);
		return cfi;
	}
	free(cfi);
	return new_with_index(image, cfi_index_new(image));
}

struct cfi *cfi_new_debug(const struct image *image)
{
	return new_with_index(image, cfi_index_new_debug(image));
}

uint64_t cfi_count(const struct cfi *cfi)
{
	return cfi->index ? cfi_index_count(cfi->index) : cfi->count;
}

bool cfi_place(const struct cfi *cfi, uint64_t number, uint64_t *start_ret,
	       uint64_t *fde_ret)
{
	return cfi->entries && number < cfi->count &&
	       table_entry(cfi, number, start_ret, fde_ret);
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	cfi_index_free(cfi->index);
	free(cfi->entries);
	free(cfi);
}
