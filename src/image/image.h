/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_IMAGE_H
#define CALLTRAP_IMAGE_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/types.h"
#include "sysdeps/arch.h"

/*
 * An ELF file: what it defines, what it calls and how. No process in sight.
 * Addresses are the file's own (add the bias of a module to get those of a
 * process). Everything needed comes from the program headers and PT_DYNAMIC;
 * section headers, which may be missing or wrong, only add to it. The file is
 * hostile: every offset, count and string is checked, and what is broken is
 * left out, with a diagnostic at the debug level.
 */
struct image;

enum symbol_kind {
	SYMBOL_FUNCTION,
	SYMBOL_IFUNC, /* the address is the resolver's */
};

/* A function that the image defines. */
struct symbol {
	const char *name;    /* without its version */
	const char *version; /* NULL without; from the dynamic table only */
	uint64_t address;
	uint64_t size; /* 0 when unknown */
	enum symbol_kind kind;
	bool global;         /* global or weak, not local */
	bool exported;       /* in the dynamic symbol table */
	bool hidden_version; /* foo@V, not the default foo@@V */
};

/* How an import's GOT slot is filled (the relocation at the slot). */
enum import_kind {
	IMPORT_JUMP_SLOT, /* for calls: lazily, or at start */
	IMPORT_GLOB_DAT,  /* the function's address: calls and pointers */
	IMPORT_IRELATIVE, /* result of the resolver at the address below */
};

/*
 * A function that the image calls, or may call, through a GOT slot. For
 * IRELATIVE the name is that of the image's own IFUNC symbol at the resolver
 * ("" when it has none).
 */
struct import {
	const char *name;
	const char *version;
	const char *library; /* SONAME that the version is wanted of; or NULL */
	enum import_kind kind;
	uint64_t slot;     /* address of the GOT entry */
	uint64_t resolver; /* IRELATIVE: the resolver's address */
	uint64_t stub;     /* address of the PLT stub, 0 = none (-fno-plt) */
	bool weak;
	/*
	 * The stub is the function's address as far as this program knows
	 * (non-PIE, address taken): calls through pointers, from any module,
	 * come through it too. (Symbol value of an undefined symbol; System V
	 * ABI x86-64 4.4, "Function Addresses".)
	 */
	bool canonical;
};

struct image_segment {
	uint64_t address; /* p_vaddr */
	uint64_t memory_size;
	uint64_t offset; /* in the file */
	uint64_t file_size;
	bool readable;
	bool writable;
	bool executable;
};

/*
 * Reads the ELF file open at fd (which stays the caller's). name is used in
 * messages. Returns -ENOEXEC when it is no ELF file that can be read, or the
 * errno of reading it.
 */
int image_open(int fd, const char *name, struct image **ret) MUST_CHECK;

/*
 * The same of an image that lies in memory with its ELF header at address
 * base: for files that are gone. Section headers are missing then. The
 * dynamic linker may have relocated some of it, pointers of PT_DYNAMIC
 * included (glibc adds the bias to them).
 */
int image_open_memory(struct memory *memory, taddr_t base, const char *name,
		      struct image **ret) MUST_CHECK;

/* The same of bytes, which are copied. */
int image_open_bytes(const void *bytes, size_t size, const char *name,
		     struct image **ret) MUST_CHECK;

struct image *image_get(struct image *image);    /* one more owner */
void image_put(struct image *image);             /* one less; NULL is fine */
bool image_is_shared(const struct image *image); /* has several owners */

/*
 * Where the separate debug file of a stripped image is looked for when its
 * symbols are first asked for: by build-id, then by .gnu_debuglink (its CRC is
 * checked), in the usual directories below root ("" or "/proc/PID/root"; "" is
 * taken when that is gone by then). path is where the image itself was found,
 * as seen below root, or NULL. MiniDebugInfo (.gnu_debugdata) is taken where
 * there is no such file. Too late once symbols were asked for.
 */
void image_set_debug_path(struct image *image, const char *root,
			  const char *path);

/* With whose rights all such files are opened: an owner more. */
struct rights;
void image_set_debug_rights(struct image *image, struct rights *rights);

/* Longer build-ids are not made. */
#define BUILD_ID_MAX 64

/* Files with the debug information of an image: the caller's to close. */
struct debug_files {
	int fd;
	int common_fd;                   /* what dwz moved there from several
					    such files; -1: none is needed */
	uint8_t common_id[BUILD_ID_MAX]; /* … or it was not found: this is its
					    build-id … */
	size_t common_id_size;           /* … and 0 is for all other cases */
};

/*
 * Opens the file with the image's debug information (.debug_info): its own, or
 * the separate one, which is looked for as above; and the file that dwz moved
 * the common parts of several such files to (.gnu_debugaltlink). -ENOENT when
 * there is no debug information.
 */
int image_open_debug(const struct image *image,
		     struct debug_files *ret) MUST_CHECK;

/*
 * The same with a file from elsewhere, which stays the caller's: -ENOENT when
 * it isn't the image's, or has no debug information.
 */
int image_open_debug_in(const struct image *image, int fd,
			struct debug_files *ret) MUST_CHECK;

/* Whether an ELF file has that build-id. */
bool image_has_build_id(int fd, const uint8_t *id, size_t size);

const char *image_name(const struct image *image);
const struct arch_ops *image_arch(const struct image *image);
const char *image_soname(const struct image *image);      /* or NULL */
const char *image_interpreter(const struct image *image); /* or NULL */
bool image_is_dynamic(const struct image *image);         /* has PT_DYNAMIC */
bool image_is_position_independent(const struct image *image);
uint64_t image_entry(const struct image *image);
uint64_t image_dynamic_address(const struct image *image); /* 0 without */
uint64_t image_got_address(const struct image *image);     /* DT_PLTGOT */

/* The address that PT_PHDR, or the first segment, gives the headers. */
uint64_t image_headers_address(const struct image *image);

/* Lowest and behind the highest address of all PT_LOAD segments. */
uint64_t image_low(const struct image *image);
uint64_t image_high(const struct image *image);

/* Whether the address lies in one of them. */
bool image_has_address(const struct image *image, uint64_t address);

/* The PT_LOAD segments. */
const struct image_segment *image_segments(const struct image *image,
					   size_t *count_ret);
bool image_is_code(const struct image *image, uint64_t address);

/* Raw bytes of .note.gnu.build-id; NULL when there is none. */
const uint8_t *image_build_id(const struct image *image, size_t *size_ret);

/*
 * Bytes of the file at an address of a segment's file part; how many there
 * are is returned, at most size. What a module's code looks like without
 * traps.
 */
size_t image_read(const struct image *image, uint64_t address, void *ret,
		  size_t size);

/* Where .eh_frame_hdr lies (PT_GNU_EH_FRAME); false when there is none. */
bool image_frame_header(const struct image *image, uint64_t *address_ret,
			uint64_t *size_ret);

/* Whether the file's section headers name such a section. */
bool image_has_section(const struct image *image, const char *name);

/*
 * Whether it is a program of Go's: it has a stack for each goroutine, which is moved
 * when there is no room, and others for C's functions.
 */
bool image_is_go(const struct image *image);

/*
 * The bytes of a section of the file itself, to be freed, and its address (0
 * when it isn't loaded). NULL when there is none, or it is compressed.
 */
uint8_t *image_load_section(const struct image *image, const char *name,
			    uint64_t *address_ret, size_t *size_ret);

/*
 * The functions that the image defines: both symbol tables, by address, then
 * by how well the name serves to print (global first, then without leading
 * underscores, then the shorter one, then by the alphabet). Duplicates of one
 * name at one address are merged. Only symbols that lie in executable
 * segments.
 */
const struct symbol *image_symbols(const struct image *image,
				   size_t *count_ret);

/*
 * Those of them that have one of these names, in the same order. For a few
 * names that is found without reading and sorting all the others. The array
 * is to be freed (NULL when there are none); the names in it are the image's.
 */
struct symbol *image_symbols_named(const struct image *image,
				   const char *const *names, size_t name_count,
				   size_t *count_ret);

/* What it calls through the GOT, each with the stub that leads there. */
const struct import *image_imports(const struct image *image,
				   size_t *count_ret);

/* A jump through the slot of an import that has no stub: a tail call. */
struct slot_jump {
	uint64_t address;
	const struct import *import;
};

/* All code is searched for them, once, which takes its time. */
const struct slot_jump *image_slot_jumps(const struct image *image,
					 size_t *count_ret);

/*
 * Whether an import, by its slot, is called by the image's code (and a stub that it
 * may have) and nothing else: nowhere is the address that the slot holds kept, passed
 * on or compared. Found in the same search. False of those that only stubs lead through
 * (IMPORT_JUMP_SLOT, IMPORT_IRELATIVE): nobody needs to ask.
 */
bool image_slot_is_only_called(const struct image *image, uint64_t slot);

/*
 * The exported definition of a name, as the dynamic linker would choose it:
 * version NULL takes the default one. NULL when there is none.
 */
const struct symbol *image_find_export(const struct image *image,
				       const char *name, const char *version);

/* Any function of that name, exported ones first. Or NULL. */
const struct symbol *image_find_symbol(const struct image *image,
				       const char *name);

/* The same of several names, in one search: ret has room for count. */
void image_find_symbols(const struct image *image, const char *const *names,
			size_t count, const struct symbol **ret);

/*
 * The address of an exported data object (_r_debug). False when there is
 * none.
 */
bool image_find_object(const struct image *image, const char *name,
		       uint64_t *address_ret);

/* The variable that an address lies in, and the section. */
struct image_datum {
	char name[256];  /* "": not known */
	uint64_t offset; /* in the variable */
	char section[64];
	uint64_t section_offset;
};

/* False when neither is known. It goes through all symbols. */
bool image_describe_datum(const struct image *image, uint64_t address,
			  struct image_datum *ret);

/*
 * An exported variable of which each thread has a copy, and where it is: at
 * offset in the image's block of the thread's memory. Which block that is, the
 * dynamic linker has written to GOT entries, if the code needs them.
 */
struct image_thread_object {
	uint64_t offset; /* in the block */
	uint64_t block_size;
	uint64_t block_align;
	uint64_t number_slot;       /* the image's number (DTPMOD); 0: none */
	uint64_t place_slot;        /* a place, counted from the thread pointer
				  (TPOFF); 0: none */
	uint64_t behind_place;      /* how far from there the variable is */
	uint64_t descriptor_slot;   /* two words (TLSDESC); 0: none */
	uint64_t behind_descriptor; /* as of a place that they lead to */
};

/* False when there is none of that name. */
bool image_find_thread_object(const struct image *image, const char *name,
			      struct image_thread_object *ret);

/* An unused range of a segment's last page. */
struct image_slack {
	uint64_t address;
	uint64_t size;
};

/*
 * Executable bytes that nobody uses: from the end of each executable segment
 * to the end of its last page. (They show what follows in the file, which the
 * program reaches by other addresses.) Returns how many of at most room
 * ranges were filled in.
 */
size_t image_slack(const struct image *image, struct image_slack *ret,
		   size_t room);

#endif
