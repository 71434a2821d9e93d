/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_PRIVATE_H
#define CALLTRAP_IMAGE_PRIVATE_H

#include "base/hash.h"
#include "base/strbuf.h"
#include "image/elf.h"
#include "image/image.h"
#include "image/sections.h"
#include "image/source.h"
#include "sysdeps/linux/rights.h"

/* What the files of this room share. */

struct version {
	const char *name;
	const char *library; /* NULL: this image defines it */
};

/* DT_GNU_HASH; these are numbers of words or offsets in blob. */
struct gnu_hash {
	struct blob blob;
	unsigned word_size;
	uint64_t buckets; /* 0: can't be used */
	uint64_t first;
	uint64_t bloom_size;
	uint32_t shift;
	uint64_t buckets_at;
	uint64_t chains_at;
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

/* A .symtab and its strings, where they lie. Without source there is none. */
struct symtab {
	const struct source *source;
	uint64_t symbols, symbols_size;
	uint64_t strings, strings_size;
};

/* The separate debug file. */
struct debug_file {
	bool wanted; /* as image_set_debug_path() said: */
	char *root;
	char *path;            /* or NULL */
	struct rights *rights; /* with which it is opened; NULL: our own */
	bool looked_for;
	struct source source;
	struct symtab symtab;
};

/* Those of one hash are chained, by index + 1. */
struct export_link {
	uint32_t hash;
	uint32_t next;
};

/* A name that was asked for, and what was found. */
struct asked_name {
	UT_hash_handle hh;
	struct symbol_list exports; /* empty as long as they weren't asked for */
	bool answered;              /* what follows is set */
	bool found;
	struct symbol symbol;
	char text[];
};

/* What is made when it is first asked for, and kept. */
struct tables {
	bool has_basis; /* sections, dynsym and symtab */
	bool has_exports;
	bool has_index; /* of exports: hash, or what follows it */
	bool has_symbols;
	bool has_imports;
	bool has_slot_jumps; /* and called_slots */
	struct sections sections;
	struct dynsym dynsym;
	struct symtab symtab;
	struct debug_file debug;
	struct blob strings;       /* of .symtab, with has_symbols */
	struct blob debug_strings; /* of the debug file's */
	/* The functions of the dynamic table, in its order; also local ones. */
	struct symbol_list exports;
	struct gnu_hash gnu_hash;
	uint32_t *export_heads; /* by hash & export_mask; index + 1 */
	uint32_t export_mask;
	struct export_link *export_links;
	uint64_t local_end; /* behind the last local function */
	struct symbol_list symbols;
	struct asked_name *asked;
	struct import *imports;
	size_t import_count;
	struct slot_jump *slot_jumps;
	size_t slot_jump_count;
	uint64_t *called_slots; /* and nothing else, see slot_uses.c; sorted */
	size_t called_slot_count;
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
	uint64_t notes_left; /* to be read for the build-id */
	uint64_t dynamic_address;
	uint64_t dynamic_size;
	uint64_t frame_header_address; /* PT_GNU_EH_FRAME */
	uint64_t frame_header_size;
	uint64_t tls_size; /* PT_TLS */
	uint64_t tls_align;
	Elf_Data *dynamic; /* its entries; the source's; or NULL */
	size_t dynamic_count;
	char *soname;
	char *interpreter;
	const uint8_t *build_id; /* the source's */
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

/*
 * What lies at an address, at most size bytes of it: cut at the segment's end.
 * As a table; as a chunk that the image keeps, or NULL; as bytes.
 */
void image_table(const struct image *image, uint64_t address, uint64_t size,
		 Elf_Type type, struct table *ret);
Elf_Data *image_chunk(const struct image *image, uint64_t address,
		      uint64_t size, Elf_Type type);
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
bool dynsym_get(struct dynsym *dynsym, uint64_t index, GElf_Sym *ret,
		const char **name_ret);
const struct version *dynsym_version(struct dynsym *dynsym, uint64_t index,
				     bool *hidden_ret);

/* versions.c */
void dynsym_read_versions(struct dynsym *dynsym, const struct image *image);

/* Twice what a browser with all its symbols has. */
#define SYMBOLS_MAX (1u << 22)

/* symtab.c */
struct tables *image_basis(const struct image *image);
const struct symbol_list *image_exports(const struct image *image);

/* The function that an entry of the dynamic table is. */
bool image_read_export(const struct image *image, uint64_t index,
		       struct symbol *ret);

/* False when there is none. */
bool symtab_init(struct symtab *symtab, const struct source *source,
		 const struct sections *sections);

/* Its entries; only for one that has a source. */
void symtab_entries(const struct symtab *symtab, struct table *ret);
bool image_is_function(const struct image *image, const GElf_Sym *symbol);

/* Adds the functions of a table; strings are to live as long as they. */
void image_add_symtab(const struct image *image, const struct symtab *symtab,
		      struct symbol_list *symbols, struct blob *strings);

/* gnu_hash.c */
void gnu_hash_init(struct gnu_hash *table, const struct image *image,
		   uint64_t symbol_count);

/* Indices of the symbols of a hash; 0 when there are no more. */
uint64_t gnu_hash_first(const struct gnu_hash *table, uint32_t hash);
uint64_t gnu_hash_next(const struct gnu_hash *table, uint32_t hash,
		       uint64_t index);

/* symbols.c */
struct symbol image_symbol_of(const char *name, const GElf_Sym *elf);
void symbol_list_add(struct symbol_list *symbols, const char *name,
		     const GElf_Sym *elf);
void symbol_list_add_copy(struct symbol_list *symbols,
			  const struct symbol *symbol);

/* Puts them in the order of image_symbols(), each once. */
void symbol_list_order(struct symbol_list *symbols);

/* The first index whose symbol is at or behind an address. */
size_t symbol_list_bound(const struct symbol_list *symbols, uint64_t address);
struct tables *image_symbol_tables(const struct image *image);

/* lookup.c: the functions of that name in the dynamic table. */
const struct symbol_list *image_exports_named(const struct image *image,
					      const char *name);

/* named.c: the entry of a name, which lives as long as the image. */
struct asked_name *image_ask(const struct image *image, const char *name);
void asked_names_free(struct asked_name *names);

/* irelative.c: names IRELATIVE imports by the resolvers' symbols. */
void image_name_irelative(const struct image *image);

/* debugfile.c: looks for it, once. NULL when there is none. */
const struct symtab *image_debug_symtab(const struct image *image);

/* Somebody who looks for a separate debug file that has what he needs. */
struct debug_search {
	/* True: source was taken over, or copied. */
	bool (*take)(struct debug_search *search, const struct image *image,
		     const char *path, struct source *source,
		     const struct sections *sections);
};

/* Offers those that belong to the image; whether one was taken. */
bool image_search_debug(const struct image *image, struct debug_search *search);

/*
 * Offers a file if it belongs to the image: by its CRC, or without one by its
 * build-id. Whether it was taken.
 */
bool image_offer_debug(const struct image *image, const char *path,
		       const uint32_t *crc, struct source *source,
		       struct debug_search *search);

/* What stands before paths of such files, and where a build-id leads. */
const char *image_debug_root(const struct image *image);
void image_id_path(struct strbuf *path, const char *root, const uint8_t *id,
		   size_t size);
int image_open_source(const struct image *image, const char *path,
		      struct source *ret);
bool image_file_has_id(const struct source *source,
		       const struct sections *sections, const uint8_t *wanted,
		       size_t wanted_size);

/* Takes source over if it has a .symtab. */
bool image_keep_debug(const struct image *image, const struct source *source,
		      const struct sections *sections);
/* Its symbols have been read; where it is may be asked again. */
void debug_file_close(struct debug_file *debug);
void debug_file_fini(struct debug_file *debug);

/*
 * stubs.c: finds the stubs of imports, which are sorted by slot. values are
 * those of their symbols when they are undefined, else 0.
 */
void image_find_stubs(const struct image *image, struct import *imports,
		      const uint64_t *values, size_t count);

/* ---- jumps.c ---- */

/* The place of an import among some that are sorted by slot; or NULL. */
const struct import **import_by_slot(const struct import **imports,
				     size_t count, uint64_t slot);

/* ---- landings.c ---- */

/* Where calls of the image go on that exceptions leave; by an address within one:
   0: it ends its function, LANDING_UNKNOWN: the tables can't be read. */
struct landings;
struct landings *landings_new(const struct image *image);
uint64_t landings_find(const void *landings, uint64_t call);
void landings_free(struct landings *landings);

/* ---- slot_uses.c: what code does with GOT slots ---- */

/* Of imports, sorted by slot, which have to stay. */
struct slot_uses;
struct slot_uses *slot_uses_new(const struct arch_ops *arch,
				const struct import **imports, size_t count,
				const struct landings *landings);

/* In code at the address, by instructions that begin before end. */
void slot_uses_search(struct slot_uses *uses, const uint8_t *code, size_t size,
		      size_t end, uint64_t address);

/* The slots, to be freed, that are called and not used otherwise; sorted. */
uint64_t *slot_uses_end(struct slot_uses *uses, size_t *count_ret);

/* minidebug.c */
bool image_add_minidebug(const struct image *image);

#endif
