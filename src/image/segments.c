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

/* A path (PT_INTERP) is never longer. */
#define INTERPRETER_MAX 4096

static void add_segment(struct image *image, const GElf_Phdr *header)
{
	uint64_t file_size = header->p_filesz;
	uint64_t limit = image_word_size(image) == 4 ? UINT32_MAX : UINT64_MAX;

	if (!header->p_memsz || header->p_vaddr > limit ||
	    header->p_memsz - 1 > limit - header->p_vaddr ||
	    header->p_vaddr + header->p_memsz == 0 ||
	    image->segment_count == SEGMENTS_MAX) {
		diag_debug(DIAG_MODULE, "%s: a segment at %#llx is left out",
			   image->name, (unsigned long long)header->p_vaddr);
		return;
	}
	if (file_size > header->p_memsz)
		file_size = header->p_memsz;
	image->segments[image->segment_count++] = (struct image_segment){
		.address = header->p_vaddr,
		.memory_size = header->p_memsz,
		.offset = header->p_offset,
		.file_size = file_size,
		.readable = header->p_flags & PF_R,
		.writable = header->p_flags & PF_W,
		.executable = header->p_flags & PF_X,
	};
}

static void read_interpreter(struct image *image, const GElf_Phdr *header)
{
	struct blob blob;

	if (image->interpreter || header->p_filesz > INTERPRETER_MAX)
		return;
	blob_load(&blob, &image->source, header->p_offset, header->p_filesz);
	if (blob.size)
		image->interpreter = xstrdup((const char *)blob.bytes);
	blob_fini(&blob);
}

static void read_notes(struct image *image, const GElf_Phdr *header)
{
	if (!image->build_id)
		image->build_id =
			elf_build_id(&image->source, header->p_offset,
				     header->p_filesz, header->p_align,
				     &image->notes_left, &image->build_id_size);
}

static void read_program_header(struct image *image, const GElf_Phdr *header)
{
	switch (header->p_type) {
	case PT_LOAD:
		add_segment(image, header);
		break;
	case PT_DYNAMIC:
		image->dynamic_address = header->p_vaddr;
		image->dynamic_size = header->p_memsz;
		break;
	case PT_GNU_EH_FRAME:
		image->frame_header_address = header->p_vaddr;
		image->frame_header_size = header->p_memsz;
		break;
	case PT_TLS:
		image->tls_size = header->p_memsz;
		image->tls_align = header->p_align;
		break;
	case PT_INTERP:
		read_interpreter(image, header);
		break;
	case PT_NOTE:
		read_notes(image, header);
		break;
	case PT_PHDR:
		image->headers_address = header->p_vaddr;
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
	GElf_Phdr header;
	size_t i;

	image->notes_left = NOTES_MAX;
	image->segments = xcalloc(SEGMENTS_MAX, sizeof(*image->segments));
	for (i = 0; elf_program_header(&image->source, i, &header); i++)
		read_program_header(image, &header);
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
		 Elf_Type type, struct table *ret)
{
	uint64_t offset = 0, room = 0;

	if (!image_offset(image, address, &offset, &room))
		room = 0;
	table_init(ret, &image->source, offset, size < room ? size : room,
		   type);
}

Elf_Data *image_chunk(const struct image *image, uint64_t address,
		      uint64_t size, Elf_Type type)
{
	uint64_t offset, room;

	return image_offset(image, address, &offset, &room) ?
		       source_chunk(&image->source, offset,
				    size < room ? size : room, type) :
		       NULL;
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
		uint64_t page_end = (end + PAGE - 1) & -(uint64_t)PAGE;
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
