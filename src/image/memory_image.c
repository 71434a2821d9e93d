/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "image/private.h"

/*
 * An image in memory is made into bytes that are laid out as in the file it
 * came from, as far as segments tell: file part by file part. Everything is
 * copied, since the memory may go away before the image does.
 *
 * LIMIT: of an image whose file parts reach beyond this, what lies behind is
 * missing: its calls are traced, if at all, under the names that are left.
 */
#define MEMORY_MAX (256u << 20)

#define HEADERS_MAX 4096
#define SEGMENTS_MAX 64

struct layout {
	struct elf_program_header loads[SEGMENTS_MAX];
	size_t count;
	uint64_t size;
	uint64_t bias;
};

static int read_layout(const struct source *headers, taddr_t base,
		       struct layout *ret)
{
	struct elf_header header;
	struct table table;
	struct cursor c;
	uint64_t i;
	unsigned word_size;
	int err = elf_read_header(headers, &header);

	if (err)
		return err;
	word_size = header.arch->word_size;
	if (header.program_entry_size != elf_program_header_size(word_size))
		return -ENOEXEC;
	table_init(&table, headers, header.program_offset,
		   (uint64_t)header.program_count * header.program_entry_size,
		   header.program_entry_size);
	for (i = 0; table_get(&table, i, &c) && ret->count < SEGMENTS_MAX;
	     i++) {
		struct elf_program_header program =
			elf_program_header(&c, word_size);

		if (program.type == PT_LOAD)
			ret->loads[ret->count++] = program;
	}
	/* The segment that holds the start of the file was found at base. */
	for (i = 0; i < ret->count && ret->loads[i].offset; i++)
		;
	if (i == ret->count)
		return -ENOEXEC;
	ret->bias = base - ret->loads[i].address;
	return 0;
}

/* How much of a segment's file part is copied. */
static uint64_t copied_size(const struct elf_program_header *load)
{
	uint64_t size = load->file_size < load->memory_size ?
				load->file_size :
				load->memory_size;

	if (load->offset >= MEMORY_MAX)
		return 0;
	return size < MEMORY_MAX - load->offset ? size :
						  MEMORY_MAX - load->offset;
}

static void read_size(struct layout *layout, const char *name)
{
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct elf_program_header *load = &layout->loads[i];
		uint64_t size = copied_size(load);

		if (size < load->file_size)
			diag_debug(DIAG_MODULE,
				   "%s: a segment is only in part copied",
				   name);
		if (size && load->offset + size > layout->size)
			layout->size = load->offset + size;
	}
}

/* Holes stay zero: pages that can't be read, and what no segment shows. */
static uint8_t *copy(struct memory *memory, const struct layout *layout)
{
	const uint64_t page = 4096;
	uint8_t *bytes = xcalloc(layout->size, 1);
	uint64_t budget = MEMORY_MAX;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct elf_program_header *load = &layout->loads[i];
		uint64_t size = copied_size(load), done = 0;

		while (done < size && size - done <= budget) {
			uint64_t address =
				layout->bias + load->address + done;
			size_t n = memory_read_some(
				memory, address, bytes + load->offset + done,
				size - done);

			/* On with the next page. */
			if (!n)
				n = page - address % page;
			done += n;
			budget -= n < budget ? n : budget;
		}
	}
	return bytes;
}

int image_open_memory(struct memory *memory, taddr_t base, const char *name,
		      struct image **ret)
{
	CLEANUP(xfree_cleanup) struct layout *layout = NULL;
	uint8_t *headers = xmalloc(HEADERS_MAX);
	struct source source;
	int err;

	layout = xcalloc(1, sizeof(*layout));
	source_init_bytes(&source, headers,
			  memory_read_some(memory, base, headers,
					   HEADERS_MAX));
	err = source.size ? read_layout(&source, base, layout) : -EFAULT;
	source_fini(&source);
	if (err)
		return err;
	read_size(layout, name);
	source_init_bytes(&source, copy(memory, layout), layout->size);
	return image_new(source, name, true, layout->bias, ret);
}
