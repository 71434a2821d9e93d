/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>

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

/* Where the last segment ends in the file. */
static uint64_t end_of_file_parts(const struct layout *layout)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct elf_program_header *load = &layout->loads[i];
		uint64_t size = copied_size(load);

		if (size && load->offset + size > end)
			end = load->offset + size;
	}
	return end;
}

/* Returns how much of a segment's file part could be read. */
static uint64_t copy_segment(struct memory *memory,
			     const struct layout *layout,
			     const struct elf_program_header *load,
			     uint8_t *bytes)
{
	const uint64_t size = copied_size(load);
	const uint64_t address = layout->bias + load->address;
	uint64_t done = 0;
	size_t n;

	while (done < size) {
		n = memory_read_some(memory, address + done,
				     bytes + load->offset + done, size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* What no segment shows stays zero. */
static uint8_t *copy(struct memory *memory, const struct layout *layout,
		     const char *name, uint64_t *size_ret)
{
	uint8_t *bytes = xcalloc(end_of_file_parts(layout), 1);
	uint64_t budget = MEMORY_MAX, end = 0;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const struct elf_program_header *load = &layout->loads[i];
		uint64_t n;

		/* Segments may overlap, to be copied over and over. */
		if (copied_size(load) > budget)
			continue;
		n = copy_segment(memory, layout, load, bytes);
		budget -= n;
		if (n && load->offset + n > end)
			end = load->offset + n;
		if (n < load->file_size)
			diag_debug(DIAG_MODULE,
				   "%s: only %llu of %llu bytes at %#llx", name,
				   (unsigned long long)n,
				   (unsigned long long)load->file_size,
				   (unsigned long long)load->address);
	}
	*size_ret = end;
	return xreallocarray(bytes, end, 1);
}

int image_open_memory(struct memory *memory, taddr_t base, const char *name,
		      struct image **ret)
{
	CLEANUP(xfree_cleanup) struct layout *layout = NULL;
	uint8_t *bytes = xmalloc(HEADERS_MAX);
	struct source source;
	uint64_t size;
	int err;

	layout = xcalloc(1, sizeof(*layout));
	source_init_bytes(&source, bytes,
			  memory_read_some(memory, base, bytes, HEADERS_MAX));
	err = source.size ? read_layout(&source, base, layout) : -EFAULT;
	source_fini(&source);
	if (err)
		return err;
	bytes = copy(memory, layout, name, &size);
	source_init_bytes(&source, bytes, size);
	return image_new(source, name, true, layout->bias, ret);
}
