/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_SOURCE_H
#define CALLTRAP_IMAGE_SOURCE_H

#include <gelf.h>
#include <stdbool.h>

#include "base/cursor.h"
#include "base/types.h"

/*
 * Where the bytes of an ELF file come from: an open file, or memory.
 *
 * A file is never mapped and never read whole. A mapping would raise SIGBUS
 * in the tracer when somebody truncates the file, and a browser's binary alone
 * is larger than what calltrap may use. So libelf reads the parts that are
 * needed, when they are needed, and small tables are kept.
 */
struct source {
	int fd;         /* ours; -1 when bytes holds it all */
	uint8_t *bytes; /* ours */
	uint64_t size;
	Elf *elf; /* ours: for headers, and chunks that are kept */
};

/* Duplicates fd. Returns 0 or -errno; -ENOEXEC when it is no ELF file. */
int source_init_file(struct source *source, int fd) MUST_CHECK;

/* Takes bytes over, also when it fails. */
int source_init_bytes(struct source *source, uint8_t *bytes,
		      size_t size) MUST_CHECK;
void source_fini(struct source *source);

/* How many bytes there were, at most size. */
size_t source_read(const struct source *source, uint64_t offset, void *ret,
		   size_t size);

/*
 * A part of a source in memory. A NUL follows the bytes, so that whatever
 * begins inside is a string.
 */
struct blob {
	uint8_t *bytes; /* NULL: empty */
	size_t size;
};

/*
 * Reads what the source has of a range. Leaves ret empty when that is
 * nothing, or more than any real file has in one table.
 */
void blob_load(struct blob *ret, const struct source *source, uint64_t offset,
	       uint64_t size);
void blob_fini(struct blob *blob);
struct cursor blob_cursor(const struct blob *blob);

/* The string at an offset, or NULL. */
const char *blob_string(const struct blob *blob, uint64_t offset);

/*
 * A range for libelf's functions, as entries of one type, cut where the source
 * ends; it lives as long as the source does. NULL when nothing is there.
 */
Elf_Data *source_chunk(const struct source *source, uint64_t offset,
		       uint64_t size, Elf_Type type);

/*
 * Reads entries of one type through a window: a table may be large, and most
 * of its entries are looked at once. libelf keeps what it has read until the
 * file is closed, so the window is ours: to libelf, a file of its own, in
 * memory, with nothing but entries behind the header. It mustn't be moved.
 */
struct table {
	const struct source *source;
	uint64_t offset;
	uint64_t count;
	Elf_Type type;
	size_t entry_size;
	Elf *elf;          /* of the window; NULL before the first one */
	Elf_Data *entries; /* or NULL */
	uint64_t first;    /* index of the first entry in the window */
	size_t loaded;     /* how many are */
	struct {
		Elf64_Ehdr header; /* of either class, to e_ident */
		uint64_t entries[1024];
	} window;
};

/* Cuts the table where the source ends, which it mustn't outlive. */
void table_init(struct table *table, const struct source *source,
		uint64_t offset, uint64_t size, Elf_Type type);
void table_fini(struct table *table);

/* Entries of the table's type; false behind its end. */
bool table_symbol(struct table *table, uint64_t index, GElf_Sym *ret);
bool table_version(struct table *table, uint64_t index, GElf_Versym *ret);

/* Of either form; without addends they are 0. */
bool table_relocation(struct table *table, uint64_t index, GElf_Rela *ret);

/* Of 32 bits; 0 behind the end. */
uint32_t table_word(struct table *table, uint64_t index);

#endif
