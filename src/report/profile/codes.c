/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/codes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"

#define PAGE UINT64_C(4096)

/* Where ranges are made up: nothing lies there by the kernel's choice. */
#define FIRST_BASE (UINT64_C(1) << 44)

struct profile_code {
	const struct code *code;
	uint64_t low, high; /* pages, by the addresses of frames */
	uint64_t bias;      /* to be added to these */
	bool is_script;     /* addresses are lines */
	bool fixed;         /* that is none */
	uint64_t first_id;  /* of its mappings; one for each code segment */
	UT_hash_handle hh;
};

static uint64_t page_of(uint64_t address)
{
	return address & -PAGE;
}

static uint64_t page_after(uint64_t address)
{
	return page_of(address + PAGE - 1);
}

/* Of the call, where that is known. */
static uint64_t address_of(const struct frame *frame)
{
	const bool is_call = !frame_is_exact(frame) &&
			     frame->method != FRAME_SCRIPT;

	return frame->address - is_call;
}

void profile_codes_fini(struct profile_codes *codes)
{
	struct profile_code *own, *next;

	HASH_ITER(hh, codes->all, own, next) {
		HASH_DEL(codes->all, own);
		free(own);
	}
}

static struct profile_code *find(const struct profile_codes *codes,
				 const struct code *code)
{
	struct profile_code *own;

	HASH_FIND_PTR(codes->all, &code, own);
	return own;
}

static struct profile_code *add_code(struct profile_codes *codes,
				     const struct code *code)
{
	struct profile_code *own = xcalloc(1, sizeof(*own));

	own->code = code;
	own->low = UINT64_MAX;
	if (code->image) {
		own->low = page_of(image_low(code->image));
		own->high = page_after(image_high(code->image));
	}
	HASH_ADD_PTR(codes->all, code, own);
	return own;
}

void profile_codes_add(struct profile_codes *codes, const struct frame *frame)
{
	struct profile_code *own = find(codes, frame->code);
	uint64_t address = address_of(frame);

	if (!own)
		own = add_code(codes, frame->code);
	own->is_script = frame->method == FRAME_SCRIPT;
	if (frame->code->image)
		return;
	if (address < own->low)
		own->low = page_of(address);
	if (address >= own->high)
		own->high = page_after(address + 1);
}

/* ---- addresses ---- */

/* The end of something that lies where it must and in the way, or 0. */
static uint64_t in_the_way(const struct profile_codes *codes, uint64_t low,
			   uint64_t high)
{
	const struct profile_code *own, *next;

	HASH_ITER(hh, codes->all, own, next)
		if (own->fixed && own->low < high && low < own->high)
			return own->high;
	return 0;
}

/*
 * The program itself is shown at the addresses that it has in its file: Go's
 * pprof disassembles nothing else.
 */
static void choose_fixed(struct profile_codes *codes, const char *main)
{
	struct profile_code *own, *next;

	HASH_ITER(hh, codes->all, own, next)
		own->fixed = own->code->image ? !image_is_position_independent(
							own->code->image) :
						!own->is_script;
	HASH_ITER(hh, codes->all, own, next)
		if (!strcmp(own->code->path, main) &&
		    !in_the_way(codes, own->low, own->high))
			own->fixed = true;
}

static void choose_addresses(struct profile_codes *codes)
{
	struct profile_code *own, *next;
	uint64_t base = FIRST_BASE, end;
	unsigned tries;

	HASH_ITER(hh, codes->all, own, next) {
		if (own->fixed)
			continue;
		/* As often as there can be something: files lie. */
		for (tries = HASH_COUNT(codes->all); tries; tries--) {
			end = in_the_way(codes, base,
					 base + own->high - own->low);
			if (!end)
				break;
			base = end;
		}
		own->bias = base - own->low;
		base += own->high - own->low + PAGE;
	}
}

/* ---- mappings ---- */

static int64_t build_id(struct profile_writer *writer,
			const struct image *image)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const uint8_t *id;
	size_t size;

	id = image_build_id(image, &size);
	if (id)
		strbuf_add_hex_bytes(&text, id, size);
	return profile_writer_text(writer, strbuf_text(&text));
}

/* Names are said to be there even where none was found: pprof would look for
   them in the file, as we have, and complain. */
static void put_mapping(struct profile_writer *writer,
			const struct profile_code *own, Pprof__Mapping *mapping)
{
	const struct code *code = own->code;
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	mapping->start += own->bias;
	mapping->limit += own->bias;
	mapping->file = profile_writer_text(writer, *code->path ? code->path :
								  "[no file]");
	if (code->image)
		mapping->build_id = build_id(writer, code->image);
	mapping->has_functions = mapping->has_files = true;
	mapping->has_lines = mapping->has_inlined = true;
	piece.n_mappings = 1;
	piece.mappings = &mapping;
	profile_writer_put(writer, &piece);
}

static void put_segments(struct profile_writer *writer,
			 const struct profile_code *own, uint64_t *next_id)
{
	size_t count, i;
	const struct image_segment *segments =
		image_segments(own->code->image, &count);

	for (i = 0; i < count; i++) {
		const struct image_segment *segment = &segments[i];
		Pprof__Mapping mapping = PPROF__MAPPING__INIT;

		if (!segment->executable)
			continue;
		mapping.id = (*next_id)++;
		mapping.start = page_of(segment->address);
		mapping.limit =
			page_after(segment->address + segment->memory_size);
		mapping.file_offset = page_of(segment->offset);
		put_mapping(writer, own, &mapping);
	}
}

static void put_code(struct profile_writer *writer, struct profile_code *own,
		     uint64_t *next_id)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;

	if (own->first_id)
		return;
	own->first_id = *next_id;
	if (own->code->image) {
		put_segments(writer, own, next_id);
		return;
	}
	mapping.id = (*next_id)++;
	mapping.start = own->low;
	mapping.limit = own->high;
	put_mapping(writer, own, &mapping);
}

void profile_codes_put(struct profile_codes *codes, const char *main,
		       struct profile_writer *writer)
{
	struct profile_code *own, *next;
	uint64_t next_id = 1;

	choose_fixed(codes, main);
	choose_addresses(codes);
	HASH_ITER(hh, codes->all, own, next)
		if (!strcmp(own->code->path, main))
			put_code(writer, own, &next_id);
	HASH_ITER(hh, codes->all, own, next)
		put_code(writer, own, &next_id);
}

/* ---- frames ---- */

/* Which of the image's code segments has the address, from 0 on. */
static size_t segment_of(const struct image *image, uint64_t address,
			 bool *found_ret)
{
	size_t count, i, index = 0;
	const struct image_segment *segments = image_segments(image, &count);

	for (i = 0; i < count; i++) {
		if (!segments[i].executable)
			continue;
		if (address - segments[i].address < segments[i].memory_size) {
			*found_ret = true;
			return index;
		}
		index++;
	}
	*found_ret = false;
	return 0;
}

void profile_codes_locate(const struct profile_codes *codes,
			  const struct frame *frame, Pprof__Location *ret)
{
	const struct profile_code *own = find(codes, frame->code);
	uint64_t address = address_of(frame);
	size_t index = 0;
	bool found = true;

	if (frame->code->image)
		index = segment_of(frame->code->image, address, &found);
	ret->address = address + own->bias;
	if (found)
		ret->mapping_id = own->first_id + index;
}
