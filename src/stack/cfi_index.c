/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack/cfi_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/xalloc.h"

#define DEBUG_FRAME_CIE UINT32_MAX

/* Records of one section; a browser has half of that. */
#define ENTRIES_MAX (1u << 21)

struct record_place {
	uint64_t start;
	uint32_t offset; /* of the FDE in the section */
};

struct cfi_index {
	unsigned word_size;
	uint8_t *bytes;
	size_t size;
	uint64_t address;
	struct record_place *places; /* by start */
	size_t count;
	size_t room;
};

/* How a CIE says that addresses are written (the R of its augmentation). */
enum {
	ABSOLUTE = 0x00,
	PC_RELATIVE = 0x10,
	SIZE_MASK = 0x07,
	SIZE_WORD = 0x00,
	SIZE_4 = 0x03,
	SIZE_8 = 0x04,
	RELATION_MASK = 0xf0,
};

static void skip_encoded(struct cursor *c, unsigned encoding,
			 unsigned word_size)
{
	switch (encoding & SIZE_MASK) {
	case SIZE_4:
		cursor_skip(c, 4);
		break;
	case SIZE_8:
		cursor_skip(c, 8);
		break;
	default:
		cursor_skip(c, word_size);
	}
}

/* The encoding of addresses in the FDEs of the CIE at an offset. */
static uint8_t encoding_of(const struct cfi_index *index, uint64_t offset)
{
	struct cursor c = cursor_of(index->bytes, index->size);
	const char *augmentation;
	uint8_t version;

	cursor_seek(&c, offset);
	cursor_skip(&c, 8);
	version = cursor_u8(&c);
	augmentation = cursor_string_at(&c, c.position);
	if (!augmentation || *augmentation != 'z')
		return ABSOLUTE;
	cursor_skip(&c, strlen(augmentation) + 1);
	cursor_uleb128(&c);
	cursor_uleb128(&c);
	if (version == 1)
		cursor_u8(&c);
	else
		cursor_uleb128(&c);
	cursor_uleb128(&c);
	for (augmentation++; *augmentation && !c.bad; augmentation++) {
		if (*augmentation == 'R')
			return cursor_u8(&c);
		if (*augmentation == 'L')
			cursor_u8(&c);
		else if (*augmentation == 'P')
			skip_encoded(&c, cursor_u8(&c), index->word_size);
	}
	return ABSOLUTE;
}

/* The address at which the code of an FDE begins; false for odd encodings. */
static bool start_of(const struct cfi_index *index, struct cursor c,
		     uint8_t encoding, uint64_t *ret)
{
	uint64_t here = index->address + c.position;
	unsigned size = encoding & SIZE_MASK;

	if (size == SIZE_4)
		*ret = (int32_t)cursor_u32(&c);
	else if (size == SIZE_8)
		*ret = cursor_u64(&c);
	else if (size == SIZE_WORD)
		*ret = cursor_word(&c, index->word_size);
	else
		return false;
	if ((encoding & RELATION_MASK) == PC_RELATIVE)
		*ret += here;
	else if ((encoding & RELATION_MASK) != ABSOLUTE)
		return false;
	if (index->word_size == 4)
		*ret = (uint32_t)*ret;
	return !c.bad;
}

static void add_fde(struct cfi_index *index, struct cursor c, uint64_t offset,
		    uint64_t cie)
{
	struct record_place place = { .offset = offset };

	if (index->count == ENTRIES_MAX ||
	    !start_of(index, c, encoding_of(index, cie), &place.start))
		return;
	index->places = xgrow(index->places, index->count, &index->room,
			      sizeof(*index->places));
	index->places[index->count++] = place;
}

/* One record; true when there may be another behind it. */
static bool add_record(struct cfi_index *index, struct cursor *c)
{
	uint64_t offset = c->position, cie;
	uint32_t length = cursor_u32(c);
	uint32_t distance;
	struct cursor body = *c;

	if (!length || c->bad || length > c->size - c->position)
		return false;
	cursor_skip(c, length);
	if (length < 8)
		return true;
	distance = cursor_u32(&body);
	cie = offset + 4 - distance;
	if (distance && distance <= offset + 4)
		add_fde(index, body, offset, cie);
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct record_place *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_records(struct cfi_index *index)
{
	struct cursor c = cursor_of(index->bytes, index->size);

	while (!cursor_at_end(&c) && add_record(index, &c))
		;
	if (index->count)
		qsort(index->places, index->count, sizeof(*index->places),
		      compare_places);
}

/*
 * Version 4 has two bytes more behind the (empty) augmentation: the sizes of
 * addresses and of segment selectors. They are taken out, and no-operations
 * (0) put at the end.
 */
static void convert_cie(uint8_t *body, uint32_t size)
{
	if (size < 8 || body[4] != 4 || body[5] || body[6] != 8 || body[7])
		return;
	body[4] = 3;
	memmove(body + 6, body + 8, size - 8);
	memset(body + size - 2, 0, 2);
}

/*
 * .debug_frame marks CIEs by another number, and tells where an FDE's CIE is
 * from the section's beginning. All else is the same. (DWARF 5, 6.4.1)
 */
static void convert(struct cfi_index *index)
{
	struct cursor c = cursor_of(index->bytes, index->size);

	while (!cursor_at_end(&c)) {
		uint32_t length = cursor_u32(&c), id, at = c.position;

		if (length < 4 || c.bad || length > c.size - c.position)
			break;
		id = cursor_u32(&c);
		if (id == DEBUG_FRAME_CIE)
			convert_cie(index->bytes + at, length);
		id = id == DEBUG_FRAME_CIE ? 0 : at - id;
		memcpy(index->bytes + at, &id, sizeof(id));
		cursor_seek(&c, (uint64_t)at + length);
	}
}

/*
 * An address of its own for a section that isn't loaded, near enough for
 * 32-bit distances.
 */
static uint64_t address_behind(const struct image *image)
{
	return (image_high(image) + 0xffff) & ~(uint64_t)0xfff;
}

static bool add_place(struct cfi_index *index, const struct cfi *cfi,
		      size_t number)
{
	struct record_place *place = &index->places[number];
	uint64_t fde;

	if (!cfi_place(cfi, number, &place->start, &fde) ||
	    fde < index->address || fde - index->address >= index->size ||
	    fde - index->address > UINT32_MAX ||
	    (number && place->start < place[-1].start))
		return false;
	place->offset = (uint32_t)(fde - index->address);
	return true;
}

static bool take_places(struct cfi_index *index, const struct cfi *cfi)
{
	const uint64_t count = cfi_count(cfi);

	if (!count || count > ENTRIES_MAX)
		return false;
	index->places = xcalloc(count, sizeof(*index->places));
	while (index->count < count && add_place(index, cfi, index->count))
		index->count++;
	return index->count == count;
}

struct cfi_index *cfi_index_new_by(const struct image *image,
				   const struct cfi *cfi)
{
	struct cfi_index *index = xcalloc(1, sizeof(*index));

	index->word_size = image_arch(image)->word_size;
	index->bytes = image_load_section(image, ".eh_frame", &index->address,
					  &index->size);
	if (index->bytes && take_places(index, cfi))
		return index;
	cfi_index_free(index);
	return NULL;
}

static struct cfi_index *finish(struct cfi_index *index)
{
	if (index->bytes)
		read_records(index);
	if (index->count)
		return index;
	cfi_index_free(index);
	return NULL;
}

struct cfi_index *cfi_index_new(const struct image *image)
{
	struct cfi_index *index = xcalloc(1, sizeof(*index));

	index->word_size = image_arch(image)->word_size;
	index->bytes = image_load_section(image, ".eh_frame", &index->address,
					  &index->size);
	return finish(index);
}

struct cfi_index *cfi_index_new_debug(const struct image *image)
{
	struct cfi_index *index = xcalloc(1, sizeof(*index));

	index->word_size = image_arch(image)->word_size;
	/* 4-byte addresses are nothing that libunwind for x86_64 reads. */
	if (index->word_size == 8)
		index->bytes = image_load_section(image, ".debug_frame",
						  &index->address,
						  &index->size);
	if (index->bytes) {
		index->address = address_behind(image);
		convert(index);
	}
	return finish(index);
}

void cfi_index_free(struct cfi_index *index)
{
	if (!index)
		return;
	free(index->bytes);
	free(index->places);
	free(index);
}

bool cfi_index_find(const struct cfi_index *index, uint64_t address,
		    uint64_t *start_ret, uint64_t *fde_ret)
{
	size_t low = 0, high = index->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (index->places[middle].start <= address)
			low = middle;
		else
			high = middle;
	}
	if (index->places[low].start > address)
		return false;
	*start_ret = index->places[low].start;
	*fde_ret = index->address + index->places[low].offset;
	return true;
}

size_t cfi_index_read(const struct cfi_index *index, uint64_t address,
		      void *ret, size_t size)
{
	uint64_t offset = address - index->address;

	if (offset >= index->size)
		return 0;
	if (size > index->size - offset)
		size = index->size - offset;
	memcpy(ret, index->bytes + offset, size);
	return size;
}

size_t cfi_index_count(const struct cfi_index *index)
{
	return index->count;
}

uint64_t cfi_index_start(const struct cfi_index *index, size_t number)
{
	return number < index->count ? index->places[number].start : UINT64_MAX;
}

static bool record_at(const struct cfi_index *index, uint64_t offset,
		      struct cfi_record *ret)
{
	struct cursor c = cursor_of(index->bytes, index->size);
	uint32_t length;

	cursor_seek(&c, offset);
	length = cursor_u32(&c);
	if (c.bad || length < 8 || length > index->size - c.position)
		return false;
	*ret = (struct cfi_record){
		.bytes = index->bytes + offset,
		.size = length + sizeof(length),
		.address = index->address + offset,
	};
	return true;
}

bool cfi_index_entry(const struct cfi_index *index, size_t number,
		     struct cfi_entry *ret)
{
	const uint64_t offset = index->places[number].offset;
	uint32_t distance;

	*ret = (struct cfi_entry){ .start = index->places[number].start };
	if (!record_at(index, offset, &ret->fde))
		return false;
	memcpy(&distance, ret->fde.bytes + 4, sizeof(distance));
	return distance && distance <= offset + 4 &&
	       record_at(index, offset + 4 - distance, &ret->cie);
}
