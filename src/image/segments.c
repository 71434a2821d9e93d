/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "image/private.h"

/*
 * Linkers write four to six. The bound keeps looking up an address in a list
 * cheap, whatever a file says.
 */
#define SEGMENTS_MAX 256

#define PAGE 4096u

/* A path (PT_INTERP), and notes, are never longer. */
#define INTERPRETER_MAX 4096
#define NOTES_MAX (1u << 20)

static void add_segment(struct image *image,
			const struct elf_program_header *header)
{
	uint64_t file_size = header->file_size;
	uint64_t limit = image_word_size(image) == 4 ? UINT32_MAX : UINT64_MAX;

	if (!header->memory_size || header->address > limit ||
	    header->memory_size - 1 > limit - header->address ||
	    header->address + header->memory_size == 0 ||
	    image->segment_count == SEGMENTS_MAX) {
		diag_debug(DIAG_MODULE, "%s: a segment at %#llx is left out",
			   image->name, (unsigned long long)header->address);
		return;
	}
	if (file_size > header->memory_size)
		file_size = header->memory_size;
	image->segments[image->segment_count++] = (struct image_segment){
		.address = header->address,
		.memory_size = header->memory_size,
		.offset = header->offset,
		.file_size = file_size,
		.readable = header->flags & PF_R,
		.writable = header->flags & PF_W,
		.executable = header->flags & PF_X,
	};
}

static void read_interpreter(struct image *image,
			     const struct elf_program_header *header)
{
	struct blob blob;

	if (image->interpreter || header->file_size > INTERPRETER_MAX)
		return;
	blob_load(&blob, &image->source, header->offset, header->file_size);
	if (blob.size)
		image->interpreter = xstrdup((const char *)blob.bytes);
	blob_fini(&blob);
}

static void read_notes(struct image *image,
		       const struct elf_program_header *header)
{
	const uint8_t *id;
	struct blob blob;
	size_t size;

	if (image->build_id || header->file_size > NOTES_MAX)
		return;
	blob_load(&blob, &image->source, header->offset, header->file_size);
	id = elf_build_id(blob_cursor(&blob), header->align, &size);
	if (id) {
		image->build_id = xmalloc(size);
		memcpy(image->build_id, id, size);
		image->build_id_size = size;
	}
	blob_fini(&blob);
}

static void read_program_header(struct image *image,
				const struct elf_program_header *header)
{
	switch (header->type) {
	case PT_LOAD:
		add_segment(image, header);
		break;
	case PT_DYNAMIC:
		image->dynamic_address = header->address;
		image->dynamic_size = header->memory_size;
		break;
	case PT_GNU_EH_FRAME:
		image->frame_header_address = header->address;
		image->frame_header_size = header->memory_size;
		break;
	case PT_TLS:
		image->tls_size = header->memory_size;
		image->tls_align = header->align;
		break;
	case PT_INTERP:
		read_interpreter(image, header);
		break;
	case PT_NOTE:
		read_notes(image, header);
		break;
	case PT_PHDR:
		image->headers_address = header->address;
		break;
	}
}

/* Without PT_PHDR the headers are where the segment that holds them is. */
static uint64_t find_headers(const struct image *image)
{
	uint64_t offset = image->header.program_offset;
	size_t i;

	for (i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];

		if (offset >= segment->offset &&
		    offset - segment->offset < segment->file_size)
			return segment->address + (offset - segment->offset);
	}
	return image->segments[0].address + offset;
}

int image_read_segments(struct image *image)
{
	const struct elf_header *header = &image->header;
	uint32_t size = elf_program_header_size(image_word_size(image));
	struct table table;
	struct cursor c;
	uint64_t i;

	if (header->program_entry_size != size)
		return -ENOEXEC;
	image->segments = xcalloc(SEGMENTS_MAX, sizeof(*image->segments));
	table_init(&table, &image->source, header->program_offset,
		   (uint64_t)header->program_count * size, size);
	for (i = 0; table_get(&table, i, &c); i++) {
		struct elf_program_header program =
			elf_program_header(&c, image_word_size(image));

		read_program_header(image, &program);
	}
	if (!image->segment_count)
		return -ENOEXEC;
	image->segments = xreallocarray(image->segments, image->segment_count,
					sizeof(*image->segments));
	if (!image->headers_address)
		image->headers_address = find_headers(image);
	return 0;
}

const struct image_segment *image_segments(const struct image *image,
					   size_t *count_ret)
{
	*count_ret = image->segment_count;
	return image->segments;
}

const struct image_segment *image_segment_at(const struct image *image,
					     uint64_t address)
{
	size_t i;

	for (i = 0; i < image->segment_count; i++)
		if (address - image->segments[i].address <
		    image->segments[i].memory_size)
			return &image->segments[i];
	return NULL;
}

bool image_is_code(const struct image *image, uint64_t address)
{
	const struct image_segment *segment = image_segment_at(image, address);

	return segment && segment->executable;
}

bool image_has_address(const struct image *image, uint64_t address)
{
	return image_segment_at(image, address);
}

uint64_t image_low(const struct image *image)
{
	uint64_t low = UINT64_MAX;
	size_t i;

	for (i = 0; i < image->segment_count; i++)
		if (image->segments[i].address < low)
			low = image->segments[i].address;
	return low;
}

uint64_t image_high(const struct image *image)
{
	uint64_t high = 0;
	size_t i;

	for (i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];

		if (segment->address + segment->memory_size > high)
			high = segment->address + segment->memory_size;
	}
	return high;
}

bool image_offset(const struct image *image, uint64_t address,
		  uint64_t *offset_ret, uint64_t *size_ret)
{
	const struct image_segment *segment = image_segment_at(image, address);
	uint64_t inside;

	if (!segment)
		return false;
	inside = address - segment->address;
	if (inside >= segment->file_size ||
	    segment->offset > UINT64_MAX - segment->file_size)
		return false;
	*offset_ret = segment->offset + inside;
	*size_ret = segment->file_size - inside;
	return true;
}

size_t image_read(const struct image *image, uint64_t address, void *ret,
		  size_t size)
{
	uint64_t offset, room;

	if (!image_offset(image, address, &offset, &room))
		return 0;
	return source_read(&image->source, offset, ret,
			   size < room ? size : room);
}

void image_table(const struct image *image, uint64_t address, uint64_t size,
		 uint32_t entry_size, struct table *ret)
{
	uint64_t offset = 0, room = 0;

	if (!image_offset(image, address, &offset, &room))
		room = 0;
	table_init(ret, &image->source, offset, size < room ? size : room,
		   entry_size);
}

void image_blob(const struct image *image, uint64_t address, uint64_t size,
		struct blob *ret)
{
	uint64_t offset, room;

	*ret = (struct blob){ 0 };
	if (image_offset(image, address, &offset, &room))
		blob_load(ret, &image->source, offset,
			  size < room ? size : room);
}

/* The first address behind end that another segment's pages take. */
static uint64_t next_page_used(const struct image *image, uint64_t end)
{
	uint64_t next = UINT64_MAX;
	size_t i;

	for (i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];
		uint64_t first = segment->address & -(uint64_t)PAGE;
		uint64_t last = segment->address + segment->memory_size - 1;

		if (last < end)
			continue;
		if (first < end)
			first = end;
		if (first < next)
			next = first;
	}
	return next;
}

size_t image_slack(const struct image *image, struct image_slack *ret,
		   size_t room)
{
	size_t i, n = 0;

	for (i = 0; i < image->segment_count && n < room; i++) {
		const struct image_segment *segment = &image->segments[i];
		uint64_t end = segment->address + segment->memory_size;
		uint64_t page_end = (end + PAGE - 1) &
				    -(uint64_t)PAGE;
		uint64_t next = next_page_used(image, end);

		if (!segment->executable || !segment->file_size)
			continue;
		if (page_end < end || page_end > next)
			page_end = next;
		if (page_end <= end)
			continue;
		ret[n++] = (struct image_slack){
			.address = end,
			.size = page_end - end,
		};
	}
	return n;
}
