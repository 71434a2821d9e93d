/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sysdeps/arch.h"
#include "sysdeps/x86/insn.h"
#include "unit.h"

/* What each linker makes of one source, checked against its relocations. */

static const char source[] =
	"extern int f0(int), f1(int), f2(int), f3(int), f4(int);\n"
	"static int one(int x) { return x + 1; }\n"
	"static void *choose(void) { return one; }\n"
	"__attribute__((ifunc(\"choose\"), visibility(\"hidden\")))\n"
	"int chosen(int);\n"
	"int (*pointer(void))(int) { return f3; }\n"
	"int other(int x) { return f3(x) + f4(x) + 1; }\n"
	"void _start(void) { other(f0(1) + f1(2) + f2(3) + chosen(4)); }\n";

static const char library[] =
	"int f0(int x) { return x; } int f1(int x) { return x; }\n"
	"int f2(int x) { return x; } int f3(int x) { return x; }\n"
	"int f4(int x) { return x; }\n";

enum { ROOM = 64 };

struct built {
	const struct arch_ops *arch;
	Elf *elf;
	taddr_t got;
	taddr_t slots[ROOM]; /* by relocations */
	unsigned jump_slots; /* of these, the first */
	unsigned n_slots;
	struct plt_stub stubs[ROOM];
	unsigned n_stubs;
	const char *what;
};

static void write_file(const char *directory, const char *name,
		       const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert(!fclose(file));
}

static bool run(const char *directory, const char *format, ...)
	PRINTF_LIKE(2, 3);

static bool run(const char *directory, const char *format, ...)
{
	char arguments[512], command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(arguments, sizeof(arguments), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd '%s' && %s >out 2>&1", directory,
		 arguments);
	return system(command) == 0;
}

static void add_slot(struct built *b, uint64_t type, taddr_t offset)
{
	bool wide = b->arch->word_size == 8;
	uint64_t jump_slot = wide ? R_X86_64_JUMP_SLOT : R_386_JMP_SLOT;
	uint64_t glob_dat = wide ? R_X86_64_GLOB_DAT : R_386_GLOB_DAT;
	uint64_t irelative = wide ? R_X86_64_IRELATIVE : R_386_IRELATIVE;

	if (type != jump_slot && type != glob_dat && type != irelative)
		return;
	ck_assert_uint_lt(b->n_slots, ROOM);
	b->slots[b->n_slots++] = offset;
	if (type != jump_slot)
		return;
	b->slots[b->n_slots - 1] = b->slots[b->jump_slots];
	b->slots[b->jump_slots++] = offset;
}

static void read_relocations(struct built *b, Elf_Scn *section,
			     const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela rela;
	GElf_Rel rel;

	for (int i = 0;
	     header->sh_type == SHT_RELA && gelf_getrela(data, i, &rela); i++)
		add_slot(b, GELF_R_TYPE(rela.r_info), rela.r_offset);
	for (int i = 0;
	     header->sh_type == SHT_REL && gelf_getrel(data, i, &rel); i++)
		add_slot(b, GELF_R_TYPE(rel.r_info), rel.r_offset);
}

static void read_dynamic(struct built *b, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; gelf_getdyn(data, i, &entry); i++)
		if (entry.d_tag == DT_PLTGOT)
			b->got = entry.d_un.d_ptr;
}

static bool known_stub(const struct built *b, taddr_t start)
{
	for (unsigned i = 0; i < b->n_stubs; i++)
		if (b->stubs[i].start == start)
			return true;
	return false;
}

static bool known_slot(const struct built *b, taddr_t slot)
{
	for (unsigned i = 0; i < b->n_slots; i++)
		if (b->slots[i] == slot)
			return true;
	return false;
}

static void scan_stubs(struct built *b, const Elf_Data *data, taddr_t address)
{
	struct plt_stub stub;

	for (size_t at = 0; at < data->d_size; at++) {
		if (!b->arch->plt_stub(data->d_buf, data->d_size, at, address,
				       b->got, &stub))
			continue;
		ck_assert_uint_le(address + at, stub.start + stub.size);
		ck_assert_uint_ge(address + at, stub.start);
		ck_assert_msg(known_slot(b, stub.slot),
			      "%s: stub %#lx: no relocation at %#lx", b->what,
			      stub.start, stub.slot);
		if (known_stub(b, stub.start))
			continue;
		ck_assert_uint_lt(b->n_stubs, ROOM);
		b->stubs[b->n_stubs++] = stub;
	}
}

/* Returns how many calls leave the section; each enters a stub. */
static unsigned check_calls(const struct built *b, const Elf_Data *data,
			    const GElf_Shdr *header)
{
	const uint8_t *code = data->d_buf;
	unsigned calls = 0;
	struct insn insn;

	for (size_t at = 0; at < data->d_size; at += insn.length) {
		ck_assert(!b->arch->insn_decode(header->sh_addr + at, code + at,
						data->d_size - at, &insn));
		if (insn.op.kind != X86_CALL ||
		    insn.op.source != X86_IMMEDIATE ||
		    (taddr_t)insn.op.immediate - header->sh_addr <
			    header->sh_size)
			continue;
		ck_assert_msg(known_stub(b, (taddr_t)insn.op.immediate),
			      "%s: call to %#lx: no stub there", b->what,
			      insn.op.immediate);
		calls++;
	}
	return calls;
}

static void for_each_section(struct built *b,
			     void (*visit)(struct built *b, Elf_Scn *section,
					   const GElf_Shdr *header,
					   const char *name))
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t strings;

	ck_assert(!elf_getshdrstrndx(b->elf, &strings));
	while ((section = elf_nextscn(b->elf, section))) {
		ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
		visit(b, section, &header,
		      elf_strptr(b->elf, strings, header.sh_name));
	}
}

static void visit_tables(struct built *b, Elf_Scn *section,
			 const GElf_Shdr *header, const char *name UNUSED)
{
	if (header->sh_type == SHT_REL || header->sh_type == SHT_RELA)
		read_relocations(b, section, header);
	else if (header->sh_type == SHT_DYNAMIC)
		read_dynamic(b, section);
}

static void scan_segments(struct built *b)
{
	GElf_Phdr header;

	for (int i = 0; gelf_getphdr(b->elf, i, &header); i++)
		if (header.p_type == PT_LOAD && (header.p_flags & PF_X))
			scan_stubs(b,
				   elf_getdata_rawchunk(
					   b->elf, (int64_t)header.p_offset,
					   header.p_filesz, ELF_T_BYTE),
				   header.p_vaddr);
}

static void visit_text(struct built *b, Elf_Scn *section,
		       const GElf_Shdr *header, const char *name)
{
	unsigned calls;

	if (strcmp(name, ".text"))
		return;
	for (unsigned i = 0; i < b->n_stubs; i++)
		ck_assert_uint_ge(b->stubs[i].start - header->sh_addr,
				  header->sh_size);
	calls = check_calls(b, elf_rawdata(section, NULL), header);
	ck_assert_msg(calls >= 5, "%s: %u calls", b->what, calls);
}

static void check_each_slot_has_one_stub(const struct built *b)
{
	ck_assert_msg(b->jump_slots >= 3, "%s: %u slots", b->what,
		      b->jump_slots);
	for (unsigned i = 0; i < b->jump_slots; i++) {
		unsigned n = 0;

		for (unsigned j = 0; j < b->n_stubs; j++)
			n += b->stubs[j].slot == b->slots[i];
		ck_assert_msg(n == 1, "%s: slot %#lx: %u stubs", b->what,
			      b->slots[i], n);
	}
}

static void check_built(const struct arch_ops *arch, const char *directory,
			const char *what)
{
	struct built b = { .arch = arch, .what = what };
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/built", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	b.elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(b.elf);
	for_each_section(&b, visit_tables)
		;
	scan_segments(&b);
	for_each_section(&b, visit_text)
		;
	check_each_slot_has_one_stub(&b);
	elf_end(b.elf);
	close(fd);
}

struct kind {
	const char *compile;
	const char *link;
};

static const struct kind kinds[] = {
	{ "-fPIC", "-shared" },
	{ "-fPIE", "-pie" },
	{ "-fno-pic -fcf-protection", "-no-pie" },
};

static const char *const linkers[] = { "bfd", "gold", "lld", "mold" };

static const char *const options[] = {
	"-Wl,-z,lazy",       "-Wl,-z,now",       "-Wl,-z,ibtplt",
	"-Wl,-z,ibt,-z,now", "-Wl,-z,force-ibt", "-Wl,-z,bndplt",
};

static unsigned link_all(const struct arch_ops *arch, const char *directory,
			 const struct kind *kind)
{
	int bits = 8 * arch->word_size;
	unsigned done = 0;
	char what[256];

	for (size_t l = 0; l < ARRAY_SIZE(linkers); l++) {
		for (size_t o = 0; o < ARRAY_SIZE(options); o++) {
			snprintf(what, sizeof(what),
				 "cc -m%d -nostdlib %s -fuse-ld=%s %s"
				 " source.o libdep.so -o built",
				 bits, kind->link, linkers[l], options[o]);
			if (!run(directory, "%s", what))
				continue;
			check_built(arch, directory, what);
			done++;
		}
	}
	return done;
}

/* Skips what the compiler and the linkers at hand can't make. */
static void build_and_check(const struct arch_ops *arch)
{
	char directory[] = "/tmp/test_plt.XXXXXX";
	int bits = 8 * arch->word_size;
	unsigned done = 0;

	elf_version(EV_CURRENT);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	write_file(directory, "source.c", source);
	write_file(directory, "library.c", library);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (run(directory,
			"cc -m%d -nostdlib -shared -fPIC library.c"
			" -o libdep.so",
			bits) &&
		    run(directory, "cc -m%d -O1 %s -c source.c", bits,
			kinds[i].compile))
			done += link_all(arch, directory, &kinds[i]);
	ck_assert(run(directory, "rm -r '%s'", directory));
	fprintf(stderr, "# %s: %u files linked\n", arch->name, done);
}

START_TEST(stubs_of_every_linker_x86_64)
{
	build_and_check(&arch_x86_64);
}
END_TEST

START_TEST(stubs_of_every_linker_i386)
{
	build_and_check(&arch_i386);
}
END_TEST

/* One form each, for where those linkers are not at hand. */

#define BYTES(text) text, sizeof(text) - 1

struct form {
	const char *code;
	size_t size;
	size_t jump;  /* offset of the jump, its prefix included */
	size_t start; /* of the stub */
	taddr_t slot;
};

#define ADDRESS 0x401000u
#define GOT     0x403ff4u

static const struct form forms_x86_64[] = {
	{ BYTES("\xff\x25\xfa\x2f\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff"), 0, 0,
	  0x404000 },
	{ BYTES("\xff\x25\xfa\xef\xff\xff\x66\x90"), 0, 0, 0x400000 },
	{ BYTES("\xf2\xff\x25\xf9\x2f\0\0\x90"), 0, 0, 0x404000 },
	{ BYTES("\xf3\x0f\x1e\xfa\xff\x25\xf6\x2f\0\0\x66\x0f\x1f\x44\0\0"), 4,
	  0, 0x404000 },
	{ BYTES("\xf3\x0f\x1e\xfa\xf2\xff\x25\xf5\x2f\0\0\x0f\x1f\x44\0\0"), 4,
	  0, 0x404000 },
	{ BYTES("\xf3\x0f\x1e\xfa\x3e\xff\x25\xf5\x2f\0\0\x0f\x1f\x44\0\0"), 4,
	  0, 0x404000 },
	{ BYTES("\xf3\x0f\x1e\xfa\x41\xbb\x07\0\0\0\xff\x25\xf0\x2f\0\0"), 10,
	  0, 0x404000 },
	{ BYTES("\x41\xbb\x07\0\0\0\xff\x25\xf4\x2f\0\0\xcc\xcc\xcc\xcc"), 6, 0,
	  0x404000 },
	/* .plt.got: the second of two, not 16 but 8 aligned */
	{ BYTES("\xff\x25\xfa\x2f\0\0\x66\x90\xff\x25\xfa\x2f\0\0\x66\x90"), 8,
	  8, 0x404008 },
};

static const struct form forms_i386[] = {
	{ BYTES("\xff\x25\0\x40\x40\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff"), 0, 0,
	  0x404000 },
	{ BYTES("\xff\xa3\x0c\0\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff"), 0, 0,
	  GOT + 12 },
	{ BYTES("\xff\xa3\xec\xff\xff\xff\x66\x90"), 0, 0, GOT - 20 },
	{ BYTES("\xf3\x0f\x1e\xfb\xff\xa3\x0c\0\0\0\x66\x0f\x1f\x44\0\0"), 4, 0,
	  GOT + 12 },
	{ BYTES("\xf3\x0f\x1e\xfb\xb9\x08\0\0\0\xff\x25\0\x40\x40\0\xcc"), 9, 0,
	  0x404000 },
	/* mold: .plt's head, two stubs, .plt.got; ebx is GOT - 0x1020 */
	{ BYTES("\xf3\x0f\x1e\xfb\x51\x8d\x8b\x24\x10\0\0\xff\x31\xff\x61\x04"
		"\xf3\x0f\x1e\xfb\xb9\0\0\0\0\xff\xa3\x2c\x10\0\0\xcc"
		"\xf3\x0f\x1e\xfb\xb9\x08\0\0\0\xff\xa3\x30\x10\0\0\xcc"
		"\xf3\x0f\x1e\xfb\xff\xa3\x18\0\0\0\xcc\xcc\xcc\xcc\xcc\xcc"),
	  41, 32, GOT + 16 },
	{ BYTES("\xf3\x0f\x1e\xfb\x51\x8d\x8b\x24\x10\0\0\xff\x31\xff\x61\x04"
		"\xf3\x0f\x1e\xfb\xb9\0\0\0\0\xff\xa3\x2c\x10\0\0\xcc"
		"\xf3\x0f\x1e\xfb\xff\xa3\x18\0\0\0\xcc\xcc\xcc\xcc\xcc\xcc"),
	  36, 32, GOT - 0x1020 + 24 },
};

static bool find(const struct arch_ops *arch, const struct form *f, size_t at,
		 taddr_t address, struct plt_stub *ret)
{
	return arch->plt_stub((const uint8_t *)f->code, f->size, at, address,
			      GOT, ret);
}

static void check_form(const struct arch_ops *arch, const struct form *f)
{
	struct plt_stub stub, again;
	bool prefixed = (uint8_t)f->code[f->jump] != 0xff;

	ck_assert(find(arch, f, f->jump, ADDRESS, &stub));
	ck_assert_uint_eq(stub.start, ADDRESS + f->start);
	ck_assert_uint_eq(stub.slot, f->slot);
	ck_assert_uint_eq(stub.size, f->jump + prefixed + 6 - f->start);
	if (prefixed) {
		ck_assert(find(arch, f, f->jump + 1, ADDRESS, &again));
		ck_assert_uint_eq(again.start, stub.start);
		ck_assert_uint_eq(again.size, stub.size);
		ck_assert_uint_eq(again.slot, stub.slot);
	}
}

static void check_forms(const struct arch_ops *arch, const struct form *forms,
			size_t n)
{
	struct plt_stub stub;

	for (size_t i = 0; i < n; i++) {
		check_form(arch, &forms[i]);
		/* The same bytes as a tail call in the midst of code. */
		for (unsigned moved = 1; moved < 8; moved++)
			ck_assert(!find(arch, &forms[i], forms[i].jump,
					ADDRESS + moved, &stub));
	}
}

START_TEST(forms_of_stubs)
{
	check_forms(&arch_x86_64, forms_x86_64, ARRAY_SIZE(forms_x86_64));
	check_forms(&arch_i386, forms_i386, ARRAY_SIZE(forms_i386));
}
END_TEST

START_TEST(what_is_no_stub)
{
	static const struct form others[] = {
		/* jmp *%rax, call *slot, jmp rel32; .plt's head; cut off */
		{ BYTES("\xff\xe0\0\0\0\0\0\0"), 0, 0, 0 },
		{ BYTES("\xff\x15\0\0\0\0\0\0"), 0, 0, 0 },
		{ BYTES("\xe9\0\0\0\0\0\0\0"), 0, 0, 0 },
		{ BYTES("\xff\x35\xca\x2f\0\0\xff\x25\xcc\x2f\0\0\0\0\0\0"), 6,
		  0, 0 },
		{ BYTES("\xff\x25\0\0\0"), 0, 0, 0 },
		{ BYTES("\xf2\xff\x25\0\0\0"), 0, 0, 0 },
		{ BYTES("\xf2"), 0, 0, 0 },
		{ BYTES("\xff"), 0, 0, 0 },
	};
	struct plt_stub stub;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		ck_assert(!find(&arch_x86_64, &others[i], others[i].jump,
				ADDRESS, &stub));
		ck_assert(!find(&arch_i386, &others[i], others[i].jump, ADDRESS,
				&stub));
		ck_assert(!find(&arch_i386, &others[i], others[i].size, ADDRESS,
				&stub));
	}
}
END_TEST

/* Stubs relative to a base that is not to be had are not guessed. */
START_TEST(no_base_no_stub)
{
	static const uint8_t lazy[16] = "\xff\xa3\x0c\0\0\0\x68";
	static const uint8_t headless[32] =
		"\xf3\x0f\x1e\xfb\xb9\0\0\0\0\xff\xa3\x2c\x10\0\0\xcc"
		"\xf3\x0f\x1e\xfb\xb9\x08\0\0\x80\xff\xa3\x30\x10\0\0";
	struct plt_stub stub;

	ck_assert(
		!arch_i386.plt_stub(lazy, sizeof(lazy), 0, ADDRESS, 0, &stub));
	ck_assert(!arch_i386.plt_stub(headless, sizeof(headless), 9, ADDRESS,
				      GOT, &stub));
	ck_assert(!arch_i386.plt_stub(headless, sizeof(headless), 25, ADDRESS,
				      GOT, &stub));
}
END_TEST

/* Fragments of stubs in any order: nothing outside the bytes is looked at. */
static size_t shuffle(unsigned *seed, uint8_t *code, size_t room)
{
	static const struct {
		const char *code;
		size_t size;
	} parts[] = {
		{ BYTES("\xf3\x0f\x1e\xfb") },
		{ BYTES("\xf3\x0f\x1e\xfa") },
		{ BYTES("\xb9\x08\0\0\0") },
		{ BYTES("\x41\xbb\x08\0\0\0") },
		{ BYTES("\xff\xa3\x08\0\0\0") },
		{ BYTES("\xff\x25\x08\0\0\0") },
		{ BYTES("\x51\x8d\x8b\x08\0\0\0\xff\x31") },
		{ BYTES("\xb9\xf8\xff\xff\xff") },
		{ BYTES("\xf2") },
		{ BYTES("\x3e") },
		{ BYTES("\xcc") },
	};
	size_t size = 0;

	for (;;) {
		unsigned i = (unsigned)rand_r(seed) % ARRAY_SIZE(parts);

		if (size + parts[i].size > room)
			return size;
		memcpy(code + size, parts[i].code, parts[i].size);
		size += parts[i].size;
	}
}

START_TEST(fragments_of_stubs)
{
	unsigned seed = 1, found = 0;

	for (unsigned i = 0; i < 20000; i++) {
		size_t room = (unsigned)rand_r(&seed) % 96 + 16;
		uint8_t *code = malloc(room);
		size_t size = shuffle(&seed, code, room);
		/* As many bytes as there are, so that a sanitizer sees. */
		uint8_t *exact = realloc(code, size);
		struct plt_stub stub;

		for (size_t at = 0; at <= size; at++) {
			found += arch_x86_64.plt_stub(exact, size, at, ADDRESS,
						      GOT, &stub);
			found += arch_i386.plt_stub(exact, size, at, ADDRESS,
						    GOT, &stub);
		}
		free(exact);
	}
	ck_assert_uint_gt(found, 1000);
}
END_TEST

/* ---- what code does with a slot ---- */

#define SLOT 0x404000u

static const struct {
	const char *code; /* the displacement is four dots */
	size_t size;
	unsigned more; /* bytes behind it, of its instruction */
	bool calls, asks;
} uses[] = {
	{ BYTES("\x90\xff\x15....\x90"), 0, true, false },
	{ BYTES("\x90\xff\x25...."), 0, true, false },
	{ BYTES("\x3e\xff\x25...."), 0, true, false },
	/* load, call it */
	{ BYTES("\x4c\x8b\x25....\x41\xff\xd4\x0f\x0b"), 0, true, false },
	{ BYTES("\x48\x8b\x05....\xff\xd0"), 0, true, false },
	/* … if it is there */
	{ BYTES("\x48\x8b\x1d....\x48\x85\xdb\x74\x02\xff\xd3\x0f\x0b"), 0,
	  true, false },
	/* … for ever */
	{ BYTES("\x48\x8b\x1d....\xff\xd3\xeb\xfc"), 0, true, false },
	/* … until the register is another's */
	{ BYTES("\x48\x8b\x1d....\xff\xd3\x31\xdb\x48\x89\xd8"), 0, true,
	  false },
	/* load, and keep it; return it; pass it on; and nobody knows */
	{ BYTES("\x4c\x8b\x25....\x4c\x89\xe0\x0f\x0b"), 0, false, false },
	{ BYTES("\x48\x8b\x05....\xc3"), 0, false, false },
	{ BYTES("\x48\x8b\x3d....\xe8\0\0\0\0\x0f\x0b"), 0, false, false },
	{ BYTES("\x48\x8b\x1d....\xff\xe0"), 0, false, false },
	{ BYTES("\x48\x8b\x1d....\x90"), 0, false, false },
	/* call it, then keep it, on one of two ways */
	{ BYTES("\x48\x8b\x1d....\xff\xd3\x74\x02\x0f\x0b\x48\x89\xd8"), 0,
	  false, false },
	/* cmp with 0, with 1, with a register; push */
	{ BYTES("\x48\x83\x3d....\0"), 1, false, true },
	{ BYTES("\x48\x83\x3d....\1"), 1, false, false },
	{ BYTES("\x48\x3b\x15...."), 0, false, false },
	{ BYTES("\x90\xff\x35...."), 0, false, false },
};

static bool next_use(const uint8_t *code, size_t size, size_t *at,
		     struct slot_use *ret)
{
	uint32_t left = 1000;
	const struct slot_range range = { .low = SLOT,
					  .high = SLOT + 8,
					  .left = &left };

	return arch_x86_64.next_slot_use(code, size, at, size, ADDRESS, &range,
					 ret);
}

START_TEST(uses_of_slots)
{
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		const size_t size = uses[i].size;
		uint8_t *code = malloc(size);
		size_t at = 0, dots;
		struct slot_use use;
		uint32_t displacement;

		memcpy(code, uses[i].code, size);
		dots = (size_t)((uint8_t *)memmem(code, size, "....", 4) -
				code);
		displacement =
			(uint32_t)(SLOT - (ADDRESS + dots + 4 + uses[i].more));
		memcpy(code + dots, &displacement, sizeof(displacement));
		ck_assert_msg(next_use(code, size, &at, &use), "use %zu", i);
		ck_assert_uint_eq(use.slot, SLOT);
		ck_assert_msg(use.calls == uses[i].calls, "use %zu: calls", i);
		ck_assert_msg(use.asks == uses[i].asks, "use %zu: asks", i);
		ck_assert(!next_use(code, size, &at, &use));
		/* No instruction has its address there. */
		code[dots - 1] = 0x90;
		at = 0;
		ck_assert(!next_use(code, size, &at, &use));
		free(code);
	}
}
END_TEST

/* Who has used up what may be followed isn't known to call. */
START_TEST(no_more_are_followed)
{
	static const uint8_t load[] = "\x48\x8b\x05\xf9\x2f\x00\x00\xff\xd0";
	for (uint32_t most = 0; most < 2; most++) {
		uint32_t left = most;
		const struct slot_range range = { .low = SLOT,
						  .high = SLOT + 8,
						  .left = &left };
		struct slot_use use;
		size_t at = 0;

		ck_assert(arch_x86_64.next_slot_use(load, sizeof(load) - 1, &at,
						    sizeof(load) - 1, ADDRESS,
						    &range, &use));
		ck_assert_msg(use.calls == (most == 1), "with %u", most);
		ck_assert_uint_eq(left, 0);
	}
}
END_TEST

/* Where the call in what follows goes on when it is left by an exception. */
static taddr_t landing_of(const void *context, taddr_t call)
{
	return call == ADDRESS + 8 ? *(const taddr_t *)context : 0;
}

/* A loop that calls a register, which is kept in no way but an exception's. */
START_TEST(exceptions_are_followed)
{
	static const uint8_t code[] =
		"\x48\x8b\x1d\xf9\x2f\x00\x00" /* load rbx */
		"\xff\xd3\xeb\xfc"             /* call it, again */
		"\x48\x89\xd8\xc3"             /* return it */
		"\x31\xdb\xc3";                /* return, without */
	static const struct {
		taddr_t pad;
		bool calls;
	} ways[] = { { 0, true },
		     { ADDRESS + 11, false },
		     { ADDRESS + 15, true },
		     { ADDRESS - 1, false },
		     { ADDRESS + sizeof(code), false },
		     { LANDING_UNKNOWN, false } };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		uint32_t left = 1000;
		const struct slot_range range = { SLOT, SLOT + 8, &left,
						  landing_of, &ways[i].pad };
		struct slot_use use;
		size_t at = 0;

		ck_assert(arch_x86_64.next_slot_use(code, sizeof(code) - 1, &at,
						    sizeof(code) - 1, ADDRESS,
						    &range, &use));
		ck_assert_msg(use.calls == ways[i].calls, "way %zu", i);
	}
}
END_TEST

/* Any bytes, as many as there are, so that a sanitizer sees. */
START_TEST(uses_in_anything)
{
	uint32_t seed = 17;
	unsigned found = 0;

	for (unsigned round = 0; round < 20000; round++) {
		const size_t size = round % 60;
		uint8_t *code = malloc(size + !size);
		struct slot_use use;
		size_t at = 0;

		for (size_t i = 0; i < size; i++)
			code[i] =
				(uint8_t)((seed = seed * 1103515245 + 12345) >>
					  16);
		for (size_t i = 0; i + 7 <= size; i += 7) {
			const uint32_t displacement =
				(uint32_t)(SLOT - (ADDRESS + i + 7));

			memcpy(code + i + 3, &displacement,
			       sizeof(displacement));
			code[i + 2] = (uint8_t)((code[i + 2] & 0x38) | 5);
			code[i + 1] = round & 1 ? 0x8b : code[i + 1];
			code[i] = round & 1 ? 0x48 : code[i];
		}
		while (next_use(code, size, &at, &use))
			found++;
		free(code);
	}
	ck_assert_uint_gt(found, 10000);
}
END_TEST

static Suite *plt_suite(void)
{
	TCase *slot_uses = tcase_create("uses");
	Suite *suite = suite_create("plt");
	TCase *built = tcase_create("built");
	TCase *forms = tcase_create("forms");

	tcase_set_timeout(built, 120);
	tcase_add_test(built, stubs_of_every_linker_x86_64);
	tcase_add_test(built, stubs_of_every_linker_i386);
	suite_add_tcase(suite, built);
	tcase_add_test(forms, forms_of_stubs);
	tcase_add_test(forms, what_is_no_stub);
	tcase_add_test(forms, no_base_no_stub);
	tcase_add_test(forms, fragments_of_stubs);
	suite_add_tcase(suite, forms);
	tcase_add_test(slot_uses, uses_of_slots);
	tcase_add_test(slot_uses, no_more_are_followed);
	tcase_add_test(slot_uses, exceptions_are_followed);
	tcase_add_test(slot_uses, uses_in_anything);
	suite_add_tcase(suite, slot_uses);
	return suite;
}

int main(void)
{
	return unit_run(plt_suite());
}
