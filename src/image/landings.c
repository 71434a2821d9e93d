/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/xalloc.h"
#include "image/private.h"

/*
 * Where calls go on that an exception leaves: to catch it, or to clean up. Unwind
 * tables (.eh_frame) say which functions have such places, and a table of each
 * (.gcc_except_table) which call has which.
 */

enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_ULEB = 0x01,
	ENCODED_UDATA2 = 0x02,
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SDATA2 = 0x0a,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_FORMAT = 0x0f,
	ENCODED_FROM_HERE = 0x10,
	ENCODED_WAY = 0x70,
	ENCODED_OMITTED = 0xff,
};

struct landing {
	uint64_t low, high; /* calls from here on, high excluded */
	uint64_t pad;
};

struct landings {
	struct landing *list;
	size_t count, room;
	bool bad; /* some weren't found */
};

/* The segment that holds the tables. */
struct unwind_tables {
	struct landings *landings;
	struct cursor c;
	uint64_t address;
	size_t calls; /* read by now */
};

/* How a CIE says that its FDEs' addresses are written. */
struct frame_encoding {
	uint64_t position; /* of the CIE */
	uint8_t code, table;
	bool has_data;
};

static uint64_t encoded_number(struct cursor *c, uint8_t encoding)
{
	switch (encoding & ENCODED_FORMAT) {
	case ENCODED_ULEB:
		return cursor_uleb128(c);
	case ENCODED_UDATA2:
		return cursor_u16(c);
	case ENCODED_UDATA4:
		return cursor_u32(c);
	case ENCODED_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case ENCODED_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case ENCODED_ABSOLUTE:
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		return cursor_u64(c);
	default:
		c->bad = true;
		return 0;
	}
}

/* 0: there is none. */
static uint64_t encoded_address(struct unwind_tables *tables, uint8_t encoding)
{
	struct cursor *c = &tables->c;
	const uint64_t here = tables->address + c->position;
	const uint64_t number = encoded_number(c, encoding);

	if (!number || !(encoding & ENCODED_WAY))
		return number;
	if ((encoding & ENCODED_WAY) != ENCODED_FROM_HERE)
		c->bad = true;
	return here + number;
}

/* ---- one function's calls ---- */

static void add(struct unwind_tables *tables, uint64_t low, uint64_t size,
		uint64_t pad)
{
	struct landings *landings = tables->landings;

	landings->list = xgrow(landings->list, landings->count, &landings->room,
			       sizeof(*landings->list));
	landings->list[landings->count++] =
		(struct landing){ low, low + size, pad };
}

/* Each call stands there in four bytes or more, but for who lets them be read again
   and again. */
static bool may_read_on(struct unwind_tables *tables)
{
	if (tables->calls++ > tables->c.size / 4)
		tables->c.bad = true;
	return !tables->c.bad;
}

static void read_calls(struct unwind_tables *tables, uint64_t function,
		       uint64_t table)
{
	struct cursor *c = &tables->c;
	uint64_t base = function, end;
	uint8_t encoding;

	cursor_seek(c, table - tables->address);
	encoding = cursor_u8(c);
	if (encoding != ENCODED_OMITTED)
		base = encoded_address(tables, encoding);
	if (cursor_u8(c) != ENCODED_OMITTED)
		(void)cursor_uleb128(c);
	encoding = cursor_u8(c);
	end = cursor_uleb128(c);
	end += c->position;
	while (c->position < end && may_read_on(tables)) {
		const uint64_t low = encoded_number(c, encoding);
		const uint64_t size = encoded_number(c, encoding);
		const uint64_t pad = encoded_number(c, encoding);

		(void)cursor_uleb128(c); /* what is done there */
		if (pad && !c->bad)
			add(tables, function + low, size, base + pad);
	}
}

/* ---- functions ---- */

static void read_letters(struct cursor *c, const char *letters,
			 struct frame_encoding *ret)
{
	for (; *letters && !c->bad; letters++)
		switch (*letters) {
		case 'L':
			ret->table = cursor_u8(c);
			break;
		case 'R':
			ret->code = cursor_u8(c);
			break;
		case 'P':
			(void)encoded_number(c, cursor_u8(c));
			break;
		case 'B':
		case 'G':
		case 'S':
			break;
		default:
			c->bad = true;
		}
}

static void read_cie(struct cursor *c, uint64_t position,
		     struct frame_encoding *ret)
{
	const char *letters;
	uint8_t version;

	*ret = (struct frame_encoding){ .position = position,
					.table = ENCODED_OMITTED };
	cursor_seek(c, position + 4);
	if (cursor_u32(c))
		c->bad = true;
	version = cursor_u8(c);
	letters = cursor_string_at(c, c->position);
	if (!letters || (version != 1 && version != 3)) {
		c->bad = true;
		return;
	}
	cursor_skip(c, strlen(letters) + 1);
	(void)cursor_uleb128(c); /* code alignment */
	(void)cursor_uleb128(c); /* data alignment */
	(void)cursor_uleb128(c); /* the return address's column */
	ret->has_data = *letters == 'z';
	if (!ret->has_data)
		return;
	(void)cursor_uleb128(c);
	read_letters(c, letters + 1, ret);
}

static void read_fde(struct unwind_tables *tables, uint64_t position,
		     struct frame_encoding *encoding)
{
	struct cursor *c = &tables->c;
	const uint64_t back = cursor_u32(c);
	const uint64_t cie = position + 4 - back;
	uint64_t function, table;

	if (back > position + 4)
		c->bad = true;
	if (cie != encoding->position && !c->bad)
		read_cie(c, cie, encoding);
	if (encoding->table == ENCODED_OMITTED || !encoding->has_data)
		return;
	cursor_seek(c, position + 8);
	function = encoded_address(tables, encoding->code);
	(void)encoded_number(c, encoding->code);
	(void)cursor_uleb128(c);
	table = encoded_address(tables, encoding->table);
	if (table && !c->bad)
		read_calls(tables, function, table);
}

static void read_all(struct unwind_tables *tables, uint64_t frames)
{
	struct cursor *c = &tables->c;
	struct frame_encoding encoding = { .position = UINT64_MAX };
	uint64_t position = frames - tables->address, size;

	for (; position < c->size; position += 4 + size) {
		cursor_seek(c, position);
		size = cursor_u32(c);
		if (!size)
			break;
		if (size == UINT32_MAX)
			c->bad = true;
		if (cursor_u32(c)) {
			cursor_seek(c, position + 4);
			read_fde(tables, position, &encoding);
		}
		if (c->bad)
			break;
	}
}

/* ---- where they lie ---- */

static const struct image_segment *segment_of(const struct image *image,
					      uint64_t address)
{
	size_t count, i;
	const struct image_segment *segments = image_segments(image, &count);

	for (i = 0; i < count; i++)
		if (address - segments[i].address < segments[i].file_size)
			return &segments[i];
	return NULL;
}

/* The header's first words: a version, how numbers are written, and where the
   tables begin. */
static uint64_t begin_of_frames(struct unwind_tables *tables, uint64_t header)
{
	uint8_t encoding;

	cursor_seek(&tables->c, header - tables->address);
	if (cursor_u8(&tables->c) != 1)
		tables->c.bad = true;
	encoding = cursor_u8(&tables->c);
	cursor_skip(&tables->c, 2);
	return encoded_address(tables, encoding);
}

static int compare(const void *a, const void *b)
{
	const struct landing *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* No program that is known has a quarter of it. */
#define SEGMENT_MOST (UINT64_C(512) << 20)

/* How much of a segment is there, whatever its header says. */
static uint64_t size_of(const struct image *image,
			const struct image_segment *segment)
{
	uint64_t offset, room;

	if (!image_offset(image, segment->address, &offset, &room) ||
	    offset >= image->source.size)
		return 0;
	if (room > image->source.size - offset)
		room = image->source.size - offset;
	return room <= SEGMENT_MOST ? room : 0;
}

struct landings *landings_new(const struct image *image)
{
	struct landings *landings = xcalloc(1, sizeof(*landings));
	struct unwind_tables tables = { .landings = landings };
	const struct image_segment *segment;
	uint8_t *bytes CLEANUP(xfree_cleanup) = NULL;
	uint64_t header, size, room;

	if (!image_frame_header(image, &header, &size))
		return landings; /* nothing is thrown over its frames */
	segment = segment_of(image, header);
	if (!segment) {
		landings->bad = true;
		return landings;
	}
	room = size_of(image, segment);
	bytes = xmalloc(room);
	tables.address = segment->address;
	tables.c = cursor_of(bytes,
			     image_read(image, segment->address, bytes, room));
	read_all(&tables, begin_of_frames(&tables, header));
	landings->bad = tables.c.bad;
	if (landings->count)
		qsort(landings->list, landings->count, sizeof(*landings->list),
		      compare);
	return landings;
}

uint64_t landings_find(const void *context, uint64_t call)
{
	const struct landings *landings = context;
	size_t low = 0, high = landings->count;

	if (landings->bad)
		return LANDING_UNKNOWN;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		const struct landing *one = &landings->list[middle];

		if (call < one->low)
			high = middle;
		else if (call < one->high)
			return one->pad;
		else
			low = middle + 1;
	}
	return 0;
}

void landings_free(struct landings *landings)
{
	if (landings)
		free(landings->list);
	free(landings);
}
