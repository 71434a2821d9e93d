/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_PRIVATE_H
#define CALLTRAP_IMAGE_PRIVATE_H

#include "image/elf.h"
#include "image/image.h"
#include "image/sections.h"
#include "image/source.h"

/* What the files of this room share. */

struct dynamic_entry {
	uint64_t tag;
	uint64_t value;
};

struct version {
	const char *name;
	const char *library; /* NULL: this image defines it */
};

/* The dynamic symbol table and what belongs to it. */
struct dynsym {
	struct table symbols;
	struct table versions; /* .gnu.version */
	uint64_t count;        /* symbols that can be looked up */
	struct blob strings;
	struct version *names; /* by version index */
	size_t name_count;
	size_t name_room;
};

struct symbol_list {
	struct symbol *list;
	size_t count;
	size_t room;
};

/* What is made when it is first asked for, and kept. */
struct tables {
	bool has_basis; /* sections and dynsym */
	bool has_symbols;
	bool has_sorted_exports; /* since one was looked for */
	bool has_imports;
	bool has_debug_symbols;
	struct sections sections;
	struct dynsym dynsym;
	struct blob strings;       /* of .symtab */
	struct blob debug_strings; /* of a debug file's .symtab */
	struct symbol_list symbols;
	struct symbol_list exports; /* each version of each */
	uint32_t *by_name;          /* indices of symbols */
	struct import *imports;
	size_t import_count;
	/* Replaced by debug symbols, but pointers to them may be about. */
	struct symbol *retired;
};

struct image {
	unsigned references;
	char *name;
	struct elf_header header;
	struct source source;
	bool from_memory;
	uint64_t bias; /* of an image from memory; else 0 */
	struct image_segment *segments;
	size_t segment_count;
	uint64_t headers_address;
	uint64_t dynamic_address;
	uint64_t dynamic_size;
	struct dynamic_entry *dynamic;
	size_t dynamic_count;
	char *soname;
	char *interpreter;
	uint8_t *build_id;
	size_t build_id_size;
	struct tables *tables;
};

/* image.c: takes source over, also when it fails. */
int image_new(struct source source, const char *name, bool from_memory,
	      uint64_t bias, struct image **ret) MUST_CHECK;
unsigned image_word_size(const struct image *image);

/* segments.c */
int image_read_segments(struct image *image) MUST_CHECK;
const struct image_segment *image_segment_at(const struct image *image,
					     uint64_t address);

/*
 * Where in the source an address is, and how many bytes there are from there
 * to the end of its segment's file part. False when it has no place there.
 */
bool image_offset(const struct image *image, uint64_t address,
		  uint64_t *offset_ret, uint64_t *size_ret);

/* A table at an address, of at most size bytes: cut at the segment's end. */
void image_table(const struct image *image, uint64_t address, uint64_t size,
		 uint32_t entry_size, struct table *ret);
void image_blob(const struct image *image, uint64_t address, uint64_t size,
		struct blob *ret);

/* dynamic.c */
void image_read_dynamic(struct image *image);

/* The value of a tag (the last one, as ld.so does); 0 when it isn't there. */
uint64_t image_dynamic_value(const struct image *image, uint64_t tag);

/* The same of an address: the image's own, also when ld.so relocated it. */
uint64_t image_dynamic_pointer(const struct image *image, uint64_t tag);

/* dynsym.c */
void dynsym_init(struct dynsym *dynsym, const struct image *image);
void dynsym_fini(struct dynsym *dynsym);

/* Any entry, also one that only a relocation leads to. */
bool dynsym_get(struct dynsym *dynsym, unsigned word_size, uint64_t index,
		struct elf_symbol *ret, const char **name_ret);
const struct version *dynsym_version(struct dynsym *dynsym, uint64_t index,
				     bool *hidden_ret);

/* versions.c */
void dynsym_read_versions(struct dynsym *dynsym, const struct image *image);

/* symtab.c: both add the functions of a table to tables->symbols. */
struct tables *image_basis(const struct image *image);
void image_add_dynsym(const struct image *image);

/* Of a .symtab; returns whether there were any. */
bool image_add_symtab(const struct image *image, const struct source *source,
		      const struct sections *sections, struct blob *strings);

/* symbols.c */
struct tables *image_symbol_tables(const struct image *image);

/* Adds those of another file, once. Returns whether that was done. */
bool image_add_debug_symtab(const struct image *image,
			    const struct source *source,
			    const struct sections *sections);

/* The best name among the IFUNC symbols at an address, or "". */
const char *image_ifunc_name(const struct image *image, uint64_t address);

/* imports.c: gives IRELATIVE imports the names that are known by now. */
void image_name_irelative(const struct image *image);

/*
 * stubs.c: finds the stubs of imports, which are sorted by slot. values are
 * those of their symbols when they are undefined, else 0.
 */
void image_find_stubs(const struct image *image, struct import *imports,
		      const uint64_t *values, size_t count);

/* minidebug.c */
bool image_add_minidebug(struct image *image);

#endif
