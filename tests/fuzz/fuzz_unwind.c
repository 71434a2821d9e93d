/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables: the first byte says which kind and machine, the others are
 * the section, in an image around it. Rows are asked for all over the code.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "stack/cfi_spans.h"
#include "stack/unwind_row.h"

#define BASE       0x10000u
#define SECTION_AT 0x200u
#define CODE_SIZE  0x4000u

static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";

enum { NAME_EH_FRAME = 1, NAME_DEBUG_FRAME = 11, NAME_NAMES = 24 };

struct whole {
	Elf64_Ehdr header;
	Elf64_Phdr program[2];
	char names[0x30];
	Elf64_Shdr sections[3];
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void ignore(enum diag_level level UNUSED, enum diag_domain domain UNUSED,
		   const char *message UNUSED)
{
}

static void fill_headers(struct whole *whole, unsigned kind, size_t size)
{
	memcpy(whole->header.e_ident, ELFMAG, SELFMAG);
	whole->header.e_ident[EI_CLASS] = ELFCLASS64;
	whole->header.e_ident[EI_DATA] = ELFDATA2LSB;
	whole->header.e_ident[EI_VERSION] = EV_CURRENT;
	whole->header.e_type = ET_DYN;
	whole->header.e_machine = EM_X86_64;
	whole->header.e_phoff = offsetof(struct whole, program);
	whole->header.e_shoff = offsetof(struct whole, sections);
	whole->header.e_phentsize = sizeof(Elf64_Phdr);
	whole->header.e_phnum = kind == 2 ? 2 : 1;
	whole->header.e_shentsize = sizeof(Elf64_Shdr);
	whole->header.e_shnum = kind == 2 ? 0 : 3;
	whole->header.e_shstrndx = 2;
	whole->program[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = BASE,
		.p_filesz = SECTION_AT + size,
		.p_memsz = SECTION_AT + size + CODE_SIZE,
	};
	whole->program[1] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = SECTION_AT,
		.p_vaddr = BASE + SECTION_AT,
		.p_filesz = size,
		.p_memsz = size,
	};
}

static void fill_sections(struct whole *whole, unsigned kind, size_t size)
{
	memcpy(whole->names, names, sizeof(names));
	whole->sections[1] = (Elf64_Shdr){
		.sh_name = kind ? NAME_DEBUG_FRAME : NAME_EH_FRAME,
		.sh_type = SHT_PROGBITS,
		.sh_offset = SECTION_AT,
		.sh_addr = BASE + SECTION_AT,
		.sh_size = size,
	};
	whole->sections[2] = (Elf64_Shdr){
		.sh_name = NAME_NAMES,
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct whole, names),
		.sh_size = sizeof(whole->names),
	};
}

static struct image *wrap(const uint8_t *bytes, size_t size, unsigned kind)
{
	uint8_t *all = xcalloc(1, SECTION_AT + size);
	struct whole whole = { 0 };
	struct image *image;

	_Static_assert(sizeof(whole) <= SECTION_AT, "the headers");
	fill_headers(&whole, kind, size);
	fill_sections(&whole, kind, size);
	memcpy(all, &whole, sizeof(whole));
	memcpy(all + SECTION_AT, bytes, size);
	check(!image_open_bytes(all, SECTION_AT + size, "fuzz", &image));
	free(all);
	return image;
}

static void check_place(const struct saved_place *place)
{
	check(place->kind <= PLACE_VALUE && place->base <= BASE_CFA &&
	      place->reg < DWARF_REGISTERS_MAX);
}

/* As if there were memory everywhere, much of it with addresses. */
static bool read_anything(void *context, taddr_t address, uint64_t *ret)
{
	unsigned *reads = context;

	check(++*reads <= 64);
	*ret = address * 9 + *reads;
	return address % 7;
}

static void step(struct learner *learner, struct image *image,
		 const struct cfi *cfi, uint64_t address)
{
	unsigned reads = 0, i;
	struct frame_state frame = {
		.unknown = address % 3 ? 0 : 1u << address % 16,
		.read_word = read_anything,
		.context = &reads,
	};

	for (i = 0; i < DWARF_REGISTERS_MAX; i++)
		frame.registers[i] = 0x7ffc00000000 + 8 * i;
	if (learner_step(learner, image, cfi, address, &frame))
		check(!(frame.unknown & 1u << image_arch(image)->dwarf->sp));
}

static void ask(struct learner *learner, struct image *image,
		const struct cfi *cfi, uint64_t address)
{
	struct unwind_row *row = learner_row(learner, image, cfi, address);
	size_t i;

	if (!row)
		return;
	if (row->is_unlearned)
		step(learner, image, cfi, address);
	check(row->count <= DWARF_REGISTERS_MAX);
	check(row->cfa_base < DWARF_REGISTERS_MAX);
	check_place(&row->return_address);
	for (i = 0; i < row->count; i++)
		check_place(&row->places[i]);
	free(row);
}

/* All code at once. That libunwind says the same of real files is test_tabler's. */
static void make_spans(const struct image *image)
{
	struct cfi_spans spans;
	size_t i;

	if (cfi_spans_init(&spans, image, image_low(image), 4096)) {
		while (cfi_spans_go_on(&spans, 16))
			;
		check(spans.count <= 4096);
		for (i = 0; i < spans.count; i++)
			check(spans.spans[i].rule < spans.rule_count &&
			      (!i || spans.spans[i].offset >
					     spans.spans[i - 1].offset));
	}
	cfi_spans_fini(&spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct learner *learner;
	struct image *image;
	struct cfi *cfi;
	uint64_t address;

	if (!size)
		return 0;
	diag_set_receiver(ignore);
	image = wrap(bytes + 1, size - 1, bytes[0] % 3);
	learner = learner_new();
	cfi = bytes[0] % 3 == 1 ? cfi_new_debug(image) : cfi_new(image);
	for (address = image_low(image); cfi && address < image_high(image);
	     address += 61)
		ask(learner, image, cfi, address);
	make_spans(image);
	cfi_free(cfi);
	learner_free(learner);
	image_put(image);
	return 0;
}
