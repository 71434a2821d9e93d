/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ELF_BUILDER_H
#define CALLTRAP_ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

/*
 * A small but complete shared library, made byte by byte, in both classes:
 *
 *	file    address
 *	0x0000  0x10000  headers, symbols, hash tables, versions, relocations,
 *	                 notes, stubs, code: read and execute
 *	0x1000  0x12000  PT_DYNAMIC, GOT: read and write
 *	0x1400           section headers of a debug file, when asked for
 */
#define BUILT_SIZE  0x2000
#define BUILT_TEXT  0x10000
#define BUILT_DATA  0x12000
#define BUILT_GOT   (BUILT_DATA + 0x200)
#define BUILT_NOTES 40 /* bytes of notes */

enum {
	AT_SYMBOLS = 0x200,
	AT_STRINGS = 0x300,
	AT_GNU_HASH = 0x400,
	AT_HASH = 0x480,
	AT_VERSYM = 0x500,
	AT_VERNEED = 0x540,
	AT_VERDEF = 0x580,
	AT_JMPREL = 0x600,
	AT_RELOCATIONS = 0x680,
	AT_NOTES = 0x6e0,
	AT_BUILD_ID = AT_NOTES + 36,
	AT_STUBS = 0x800,
	AT_CODE = 0x900,
	AT_DYNAMIC = 0x1000,
	AT_GOT = 0x1200,
	AT_SECTIONS = 0x1400,
	AT_SYMTAB = 0x1800,
	AT_STRTAB = 0x1900,
	AT_EXTRA = 0x1a00,
};

struct built {
	unsigned word; /* 4 or 8 */
	size_t at;
	size_t names;   /* used bytes of the strings */
	size_t dynamic; /* used bytes of PT_DYNAMIC */
	unsigned sections;
	uint8_t bytes[BUILT_SIZE];
};

static inline void built_put(struct built *b, uint64_t value, unsigned size)
{
	memcpy(b->bytes + b->at, &value, size);
	b->at += size;
}

static inline void built_word(struct built *b, uint64_t value)
{
	built_put(b, value, b->word);
}

static inline unsigned built_name(struct built *b, const char *name)
{
	unsigned at = b->names;

	strcpy((char *)b->bytes + AT_STRINGS + at, name);
	b->names += strlen(name) + 1;
	return at;
}

static inline void built_header(struct built *b, unsigned programs)
{
	static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F' };

	memcpy(b->bytes, ident, sizeof(ident));
	b->at = EI_CLASS;
	built_put(b, b->word == 8 ? ELFCLASS64 : ELFCLASS32, 1);
	built_put(b, ELFDATA2LSB, 1);
	built_put(b, EV_CURRENT, 1);
	b->at = EI_NIDENT;
	built_put(b, ET_DYN, 2);
	built_put(b, b->word == 8 ? EM_X86_64 : EM_386, 2);
	built_put(b, EV_CURRENT, 4);
	built_word(b, BUILT_TEXT + AT_CODE);
	built_word(b, 0x40);
	built_word(b, 0);
	built_put(b, 0, 4);
	built_put(b, b->word == 8 ? 64 : 52, 2);
	built_put(b, b->word == 8 ? 56 : 32, 2);
	built_put(b, programs, 2);
	built_put(b, b->word == 8 ? 64 : 40, 2);
	built_put(b, 0, 2);
	built_put(b, 0, 2);
}

static inline void built_program(struct built *b, unsigned type, unsigned flags,
				 uint64_t offset, uint64_t address,
				 uint64_t size)
{
	built_put(b, type, 4);
	if (b->word == 8)
		built_put(b, flags, 4);
	built_word(b, offset);
	built_word(b, address);
	built_word(b, address);
	built_word(b, size);
	built_word(b, size);
	if (b->word == 4)
		built_put(b, flags, 4);
	built_word(b, type == PT_LOAD ? 0x1000 : 4);
}

static inline void built_symbol(struct built *b, unsigned name,
				unsigned binding, unsigned type,
				unsigned section, uint64_t value, uint64_t size)
{
	built_put(b, name, 4);
	if (b->word == 4) {
		built_word(b, value);
		built_word(b, size);
	}
	built_put(b, binding << 4 | type, 1);
	built_put(b, 0, 1);
	built_put(b, section, 2);
	if (b->word == 8) {
		built_word(b, value);
		built_word(b, size);
	}
}

static inline void built_tag(struct built *b, uint64_t tag, uint64_t value)
{
	b->at = AT_DYNAMIC + b->dynamic;
	built_word(b, tag);
	built_word(b, value);
	b->dynamic += 2 * b->word;
}

/* In RELA form for the 64-bit class, in REL form for the other. */
static inline void built_relocation(struct built *b, uint64_t slot,
				    unsigned symbol, unsigned type,
				    uint64_t addend)
{
	built_word(b, slot);
	built_word(b, b->word == 8 ? (uint64_t)symbol << 32 | type :
				     symbol << 8 | type);
	if (b->word == 8) {
		built_word(b, addend);
	} else {
		size_t at = b->at;

		b->at = slot - BUILT_DATA + AT_DYNAMIC;
		built_word(b, addend);
		b->at = at;
	}
}

/* jmp *slot, as the class has it. */
static inline void built_stub(struct built *b, uint64_t slot)
{
	uint64_t next = BUILT_TEXT + b->at + 6;

	built_put(b, 0x25ff, 2);
	built_put(b, b->word == 8 ? slot - next : slot, 4);
	built_put(b, 0x9066, 2);
}

static inline void built_symbols(struct built *b)
{
	b->at = AT_SYMBOLS;
	built_symbol(b, 0, 0, 0, 0, 0, 0);
	built_symbol(b, built_name(b, "puts"), STB_GLOBAL, STT_FUNC, 0, 0, 0);
	built_symbol(b, built_name(b, "stdout"), STB_GLOBAL, STT_OBJECT, 0, 0,
		     0);
	built_symbol(b, built_name(b, "perhaps"), STB_WEAK, STT_NOTYPE, 0, 0,
		     0);
	built_symbol(b, built_name(b, "f"), STB_GLOBAL, STT_FUNC, 1,
		     BUILT_TEXT + AT_CODE, 16);
	built_symbol(b, built_name(b, "f"), STB_GLOBAL, STT_FUNC, 1,
		     BUILT_TEXT + AT_CODE + 16, 16);
	built_symbol(b, built_name(b, "chosen"), STB_GLOBAL, STT_GNU_IFUNC, 1,
		     BUILT_TEXT + AT_CODE + 32, 16);
	built_symbol(b, built_name(b, "__f"), STB_GLOBAL, STT_FUNC, 1,
		     BUILT_TEXT + AT_CODE + 16, 16);
	built_symbol(b, built_name(b, "data"), STB_GLOBAL, STT_OBJECT, 2,
		     BUILT_DATA + 0x300, 8);
}

static inline uint32_t built_gnu_hash(const struct built *b, unsigned symbol)
{
	const uint8_t *at =
		b->bytes + AT_SYMBOLS + symbol * (b->word == 8 ? 24 : 16);
	uint32_t hash = 5381, name;

	memcpy(&name, at, 4);
	for (at = b->bytes + AT_STRINGS + name; *at; at++)
		hash = hash * 33 + *at;
	return hash;
}

static inline void built_hashes(struct built *b)
{
	unsigned i;

	b->at = AT_GNU_HASH;
	built_put(b, 1, 4); /* buckets */
	built_put(b, 4, 4); /* first symbol */
	built_put(b, 1, 4); /* bloom words */
	built_put(b, 0, 4);
	built_word(b, UINT64_MAX);
	built_put(b, 4, 4);
	for (i = 4; i < 9; i++)
		built_put(b, (built_gnu_hash(b, i) & ~1u) | (i == 8), 4);
	b->at = AT_HASH;
	built_put(b, 1, 4);
	built_put(b, 9, 4);
}

static inline void built_versions(struct built *b)
{
	static const uint16_t indices[] = { 0, 2, 2, 1, 0x8003, 4, 4, 4, 1 };
	unsigned file = built_name(b, "libx.so");
	unsigned x1 = built_name(b, "X_1");
	unsigned v1 = built_name(b, "V1");
	unsigned v2 = built_name(b, "V2");
	unsigned i;

	memcpy(b->bytes + AT_VERSYM, indices, sizeof(indices));
	b->at = AT_VERNEED;
	built_put(b, 1, 2);
	built_put(b, 1, 2);
	built_put(b, file, 4);
	built_put(b, 16, 4);
	built_put(b, 0, 4);
	built_put(b, 0, 6); /* vna_hash, vna_flags */
	built_put(b, 2, 2);
	built_put(b, x1, 4);
	built_put(b, 0, 4);
	for (i = 0; i < 2; i++) {
		b->at = AT_VERDEF + i * 28;
		built_put(b, 1, 2);
		built_put(b, 0, 2);
		built_put(b, 3 + i, 2);
		built_put(b, 1, 2);
		built_put(b, 0, 4);
		built_put(b, 20, 4);
		built_put(b, i ? 0 : 28, 4);
		built_put(b, i ? v2 : v1, 4);
	}
}

static inline void built_calls(struct built *b)
{
	const unsigned irelative = b->word == 8 ? R_X86_64_IRELATIVE :
						  R_386_IRELATIVE;
	const unsigned jump_slot = R_X86_64_JUMP_SLOT; /* in both */
	const unsigned glob_dat = R_X86_64_GLOB_DAT;

	b->at = AT_JMPREL;
	built_relocation(b, BUILT_GOT + 24, 1, jump_slot, 0);
	built_relocation(b, BUILT_GOT + 32, 0, irelative,
			 BUILT_TEXT + AT_CODE + 32);
	b->at = AT_RELOCATIONS;
	built_relocation(b, BUILT_GOT + 40, 3, glob_dat, 0);
	built_relocation(b, BUILT_GOT + 48, 2, glob_dat, 0);
	b->at = AT_STUBS;
	built_stub(b, BUILT_GOT + 32);
	built_stub(b, BUILT_GOT + 24);
}

static inline void built_dynamic(struct built *b)
{
	const unsigned entry = b->word == 8 ? 24 : 8;
	const unsigned table = b->word == 8 ? DT_RELA : DT_REL;

	built_tag(b, DT_SONAME, built_name(b, "libbuilt.so.1"));
	built_tag(b, DT_SYMTAB, BUILT_TEXT + AT_SYMBOLS);
	built_tag(b, DT_STRTAB, BUILT_TEXT + AT_STRINGS);
	built_tag(b, DT_STRSZ, b->names);
	built_tag(b, DT_GNU_HASH, BUILT_TEXT + AT_GNU_HASH);
	built_tag(b, DT_VERSYM, BUILT_TEXT + AT_VERSYM);
	built_tag(b, DT_VERNEED, BUILT_TEXT + AT_VERNEED);
	built_tag(b, DT_VERDEF, BUILT_TEXT + AT_VERDEF);
	built_tag(b, DT_JMPREL, BUILT_TEXT + AT_JMPREL);
	built_tag(b, DT_PLTRELSZ, 2 * entry);
	built_tag(b, DT_PLTREL, table);
	built_tag(b, table, BUILT_TEXT + AT_RELOCATIONS);
	built_tag(b, table == DT_RELA ? DT_RELASZ : DT_RELSZ, 2 * entry);
	built_tag(b, DT_PLTGOT, BUILT_GOT);
	built_tag(b, DT_NULL, 0);
}

static inline void built_note(struct built *b)
{
	/* Another one first, whose name and contents are padded. */
	b->at = AT_NOTES;
	built_put(b, 2, 4);
	built_put(b, 1, 4);
	built_put(b, NT_GNU_BUILD_ID, 4);
	built_put(b, 'X', 4);
	built_put(b, 1, 4);
	built_put(b, 4, 4);
	built_put(b, 4, 4);
	built_put(b, NT_GNU_BUILD_ID, 4);
	built_put(b, 0x554e47, 4); /* "GNU" */
	built_put(b, 0xefbeadde, 4);
}

static inline void built_init(struct built *b, unsigned word)
{
	memset(b, 0, sizeof(*b));
	b->word = word;
	b->names = 1;
	built_header(b, 4);
	b->at = 0x40;
	built_program(b, PT_LOAD, PF_R | PF_X, 0, BUILT_TEXT, 0x1000);
	built_program(b, PT_LOAD, PF_R | PF_W, AT_DYNAMIC, BUILT_DATA, 0x400);
	built_program(b, PT_DYNAMIC, PF_R | PF_W, AT_DYNAMIC, BUILT_DATA,
		      0x200);
	built_program(b, PT_NOTE, PF_R, AT_NOTES, BUILT_TEXT + AT_NOTES,
		      BUILT_NOTES);
	built_symbols(b);
	built_hashes(b);
	built_versions(b);
	built_calls(b);
	built_dynamic(b);
	built_note(b);
}

/*
 * Adds a section header; the names are those of the string table at
 * AT_STRTAB, where the caller puts them. Begins with the empty one.
 */
static inline void built_section(struct built *b, unsigned name, unsigned type,
				 uint64_t offset, uint64_t size, unsigned link)
{
	const unsigned entry = b->word == 8 ? 64 : 40;

	b->at = AT_SECTIONS + b->sections++ * entry;
	built_put(b, name, 4);
	built_put(b, type, 4);
	built_word(b, 0);
	built_word(b, 0);
	built_word(b, offset);
	built_word(b, size);
	built_put(b, link, 4);
	built_put(b, 0, 4);
	built_word(b, 4);
	built_word(b, 0);
	b->at = EI_NIDENT + 8 + 2 * b->word;
	built_word(b, AT_SECTIONS);
	b->at = b->word == 8 ? 60 : 48;
	built_put(b, b->sections, 2);
}

/* The last section added holds the sections' names. */
static inline void built_end_sections(struct built *b)
{
	b->at = b->word == 8 ? 62 : 50;
	built_put(b, b->sections - 1, 2);
}

#endif
