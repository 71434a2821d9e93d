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

#define HEADERS_MAX  4096
#define SEGMENTS_MAX 64

struct loaded_layout {
	GElf_Phdr loads[SEGMENTS_MAX];
	size_t count;
	uint64_t bias;
};

static int read_layout(const struct source *headers, taddr_t base,
		       struct loaded_layout *ret)
{
	struct elf_header header;
	GElf_Phdr program;
	size_t i;
	int err = elf_read_header(headers, &header);

	if (err)
		return err;
	for (i = 0; ret->count < SEGMENTS_MAX &&
		    elf_program_header(headers, i, &program);
	     i++)
		if (program.p_type == PT_LOAD)
			ret->loads[ret->count++] = program;
	/* The segment that holds the start of the file was found at base. */
	for (i = 0; i < ret->count && ret->loads[i].p_offset; i++)
		;
	if (i == ret->count)
		return -ENOEXEC;
	ret->bias = base - ret->loads[i].p_vaddr;
	return 0;
}

/* How much of a segment's file part is copied. */
static uint64_t copied_size(const GElf_Phdr *load)
{
	uint64_t size = load->p_filesz < load->p_memsz ? load->p_filesz :
							 load->p_memsz;

	if (load->p_offset >= MEMORY_MAX)
		return 0;
	return size < MEMORY_MAX - load->p_offset ? size :
						    MEMORY_MAX - load->p_offset;
}

/* Where the last segment ends in the file. */
static uint64_t end_of_file_parts(const struct loaded_layout *layout)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const GElf_Phdr *load = &layout->loads[i];
		uint64_t size = copied_size(load);

		if (size && load->p_offset + size > end)
			end = load->p_offset + size;
	}
	return end;
}

/* Returns how much of a segment's file part could be read. */
static uint64_t copy_segment(struct memory *memory,
			     const struct loaded_layout *layout,
			     const GElf_Phdr *load, uint8_t *bytes)
{
	const uint64_t size = copied_size(load);
	const uint64_t address = layout->bias + load->p_vaddr;
	uint64_t done = 0;
	size_t n;

	while (done < size) {
		n = memory_read_some(memory, address + done,
				     bytes + load->p_offset + done,
				     size - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* What no segment shows stays zero. */
static uint8_t *copy(struct memory *memory, const struct loaded_layout *layout,
		     const char *name, uint64_t *size_ret)
{
	uint8_t *bytes = xcalloc(end_of_file_parts(layout), 1);
	uint64_t budget = MEMORY_MAX, end = 0;
	size_t i;

	for (i = 0; i < layout->count; i++) {
		const GElf_Phdr *load = &layout->loads[i];
		uint64_t n;

		/* Segments may overlap, to be copied over and over. */
		if (copied_size(load) > budget)
			continue;
		n = copy_segment(memory, layout, load, bytes);
		budget -= n;
		if (n && load->p_offset + n > end)
			end = load->p_offset + n;
		if (n < load->p_filesz)
			diag_debug(DIAG_MODULE,
				   "%s: only %llu of %llu bytes at %#llx", name,
				   (unsigned long long)n,
				   (unsigned long long)load->p_filesz,
				   (unsigned long long)load->p_vaddr);
	}
	*size_ret = end;
	return xreallocarray(bytes, end, 1);
}

/* Section headers are never mapped: what lies there is something else. */
static void forget_sections(uint8_t *bytes, size_t size)
{
	Elf32_Ehdr *narrow = (Elf32_Ehdr *)bytes;
	Elf64_Ehdr *wide = (Elf64_Ehdr *)bytes;

	if (size < sizeof(*wide))
		return;
	if (bytes[EI_CLASS] == ELFCLASS32) {
		narrow->e_shoff = 0;
		narrow->e_shnum = 0;
	} else {
		wide->e_shoff = 0;
		wide->e_shnum = 0;
	}
}

static int read_headers(struct memory *memory, taddr_t base,
			struct loaded_layout *ret)
{
	uint8_t *bytes = xmalloc(HEADERS_MAX);
	size_t size = memory_read_some(memory, base, bytes, HEADERS_MAX);
	struct source source;
	int err;

	forget_sections(bytes, size);
	err = source_init_bytes(&source, bytes, size);
	if (err)
		return size ? err : -EFAULT;
	err = read_layout(&source, base, ret);
	source_fini(&source);
	return err;
}

int image_open_memory(struct memory *memory, taddr_t base, const char *name,
		      struct image **ret)
{
	CLEANUP(xfree_cleanup)
	struct loaded_layout *layout = xcalloc(1, sizeof(*layout));
	int err = read_headers(memory, base, layout);
	struct source source;
	uint8_t *bytes;
	uint64_t size;

	if (err)
		return err;
	bytes = copy(memory, layout, name, &size);
	forget_sections(bytes, size);
	err = source_init_bytes(&source, bytes, size);
	return err ? err : image_new(source, name, true, layout->bias, ret);
}
