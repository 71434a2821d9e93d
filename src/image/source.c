/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

/* The largest string tables seen are below 100 MiB. */
#define BLOB_MAX (128u << 20)

/* More are found in object files only. */
#define SECTIONS_MAX 65536

/* Where the ELF header doesn't count the section headers, the first one does. */
static uint64_t count_sections(const struct source *source,
			       const GElf_Ehdr *header)
{
	union {
		Elf32_Shdr narrow;
		Elf64_Shdr wide;
	} first = { .wide = { 0 } };

	if (header->e_shnum || !header->e_shoff)
		return header->e_shnum;
	(void)source_read(source, header->e_shoff, &first, sizeof(first));
	return header->e_ident[EI_CLASS] == ELFCLASS32 ? first.narrow.sh_size :
							 first.wide.sh_size;
}

/*
 * libelf 0.188 makes room for as many headers as a file says that it has. A
 * sparse one may be large enough for more than there is memory.
 */
static bool has_few_headers(const struct source *source)
{
	_Alignas(Elf64_Ehdr) char bytes[sizeof(Elf64_Ehdr)];
	size_t n = source_read(source, 0, bytes, sizeof(bytes));
	Elf *elf = elf_memory(bytes, n);
	GElf_Ehdr header;
	bool few = gelf_getehdr(elf, &header) && header.e_phnum != PN_XNUM &&
		   count_sections(source, &header) <= SECTIONS_MAX;

	elf_end(elf);
	return few;
}

static Elf *begin(const struct source *source)
{
	return source->bytes ? elf_memory((char *)source->bytes, source->size) :
			       elf_begin(source->fd, ELF_C_READ, NULL);
}

static int read_headers(struct source *source)
{
	(void)elf_version(EV_CURRENT);
	if (has_few_headers(source))
		source->elf = begin(source);
	if (source->elf)
		return 0;
	source_fini(source);
	return -ENOEXEC;
}

int source_init_file(struct source *source, int fd)
{
	struct stat status;
	int copy;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	*source = (struct source){ .fd = copy, .size = status.st_size };
	return read_headers(source);
}

int source_init_bytes(struct source *source, uint8_t *bytes, size_t size)
{
	*source = (struct source){ .fd = -1, .bytes = bytes, .size = size };
	return read_headers(source);
}

void source_fini(struct source *source)
{
	elf_end(source->elf);
	if (source->fd >= 0)
		close(source->fd);
	free(source->bytes);
}

static size_t read_file(int fd, uint64_t offset, uint8_t *ret, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, ret + got, size - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += n;
	}
	return got;
}

size_t source_read(const struct source *source, uint64_t offset, void *ret,
		   size_t size)
{
	if (offset >= source->size)
		return 0;
	if (size > source->size - offset)
		size = source->size - offset;
	if (source->fd >= 0)
		return read_file(source->fd, offset, ret, size);
	memcpy(ret, source->bytes + offset, size);
	return size;
}

void blob_load(struct blob *ret, const struct source *source, uint64_t offset,
	       uint64_t size)
{
	*ret = (struct blob){ 0 };
	if (offset >= source->size)
		return;
	if (size > source->size - offset)
		size = source->size - offset;
	if (size == 0 || size > BLOB_MAX)
		return;
	ret->bytes = xmalloc(size + 1);
	ret->size = source_read(source, offset, ret->bytes, size);
	ret->bytes[ret->size] = '\0';
}

void blob_fini(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}

struct cursor blob_cursor(const struct blob *blob)
{
	return cursor_of(blob->bytes, blob->size);
}

const char *blob_string(const struct blob *blob, uint64_t offset)
{
	return offset < blob->size ? (const char *)blob->bytes + offset : NULL;
}

Elf_Data *source_chunk(const struct source *source, uint64_t offset,
		       uint64_t size, Elf_Type type)
{
	if (offset >= source->size)
		return NULL;
	if (size > source->size - offset)
		size = source->size - offset;
	if (size == 0 || size > BLOB_MAX)
		return NULL;
	return elf_getdata_rawchunk(source->elf, offset, size, type);
}

/* ---- tables ---- */

void table_init(struct table *table, const struct source *source,
		uint64_t offset, uint64_t size, Elf_Type type)
{
	size_t entry_size = gelf_fsize(source->elf, type, 1, EV_CURRENT);

	if (offset >= source->size)
		size = 0;
	else if (size > source->size - offset)
		size = source->size - offset;
	table->source = source;
	table->offset = offset;
	table->count = size / entry_size;
	table->type = type;
	table->entry_size = entry_size;
	table->elf = NULL;
	table->entries = NULL;
	table->first = 0;
	table->loaded = 0;
}

void table_fini(struct table *table)
{
	elf_end(table->elf);
}

static void open_window(struct table *table)
{
	unsigned char *ident = table->window.header.e_ident;

	memset(&table->window.header, 0, sizeof(table->window.header));
	memcpy(ident, ELFMAG, SELFMAG);
	ident[EI_CLASS] = gelf_getclass(table->source->elf);
	ident[EI_DATA] = ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
	table->elf = elf_memory((char *)&table->window, sizeof(table->window));
	table->entries = elf_getdata_rawchunk(table->elf,
					      sizeof(table->window.header),
					      sizeof(table->window.entries),
					      table->type);
}

static bool load_window(struct table *table, uint64_t index)
{
	const size_t size = table->entry_size;
	size_t room = sizeof(table->window.entries) / size;

	if (!table->elf)
		open_window(table);
	if (!table->entries)
		return false;
	if (room > table->count - index)
		room = table->count - index;
	table->first = index;
	table->loaded = source_read(table->source, table->offset + index * size,
				    table->entries->d_buf, room * size) /
			size;
	return table->loaded;
}

/* The window that has the entry, and where; NULL behind the end. */
static Elf_Data *window_of(struct table *table, uint64_t index, int *at_ret)
{
	*at_ret = 0;
	if (index >= table->count)
		return NULL;
	if ((index < table->first || index - table->first >= table->loaded) &&
	    !load_window(table, index))
		return NULL;
	*at_ret = index - table->first;
	return table->entries;
}

bool table_symbol(struct table *table, uint64_t index, GElf_Sym *ret)
{
	int at;
	Elf_Data *window = window_of(table, index, &at);

	return gelf_getsym(window, at, ret);
}

bool table_version(struct table *table, uint64_t index, GElf_Versym *ret)
{
	int at;
	Elf_Data *window = window_of(table, index, &at);

	return gelf_getversym(window, at, ret);
}

bool table_relocation(struct table *table, uint64_t index, GElf_Rela *ret)
{
	int at;
	Elf_Data *window = window_of(table, index, &at);
	GElf_Rel plain;

	if (table->type == ELF_T_RELA)
		return gelf_getrela(window, at, ret);
	if (!gelf_getrel(window, at, &plain))
		return false;
	*ret = (GElf_Rela){ plain.r_offset, plain.r_info, 0 };
	return true;
}

uint32_t table_word(struct table *table, uint64_t index)
{
	int at;
	Elf_Data *window = window_of(table, index, &at);

	return window ? ((const Elf32_Word *)window->d_buf)[at] : 0;
}
