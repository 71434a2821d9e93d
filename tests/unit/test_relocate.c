/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sysdeps/arch.h"
#include "sysdeps/x86/insn.h"
#include "unit.h"

enum {
	STATE_ROOM = 16384,
	/* Of xsave's layout: where x87 keeps ip, and what is in use. */
	X87_IP = 8,
	X87_IP_SIZE = 16,
	IN_USE = 512,
	IN_USE_SIZE = 64,
	FIRST_XMM = 160,
	XMM_SIZE = 256,
};

/* What an instruction may read and write. */
struct state {
	struct regs regs;
	uint8_t vectors[STATE_ROOM];
	uint8_t data[DATA_SIZE];
	int signal;
};

static struct iovec vectors_of(struct state *s, size_t size)
{
	return (struct iovec){ s->vectors, size };
}

static size_t vectors_get(struct machine *m, struct state *s)
{
	struct iovec io = vectors_of(s, STATE_ROOM);

	ck_assert(!ptrace(PTRACE_GETREGSET, m->pid, NT_X86_XSTATE, &io));
	return io.iov_len;
}

static void vectors_set(struct machine *m, struct state *s, size_t size)
{
	struct iovec io = vectors_of(s, size);

	ck_assert(!ptrace(PTRACE_SETREGSET, m->pid, NT_X86_XSTATE, &io));
}

/* Whether it gives the same each time. */
static bool repeatable(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPID:
		return false;
	default:
		return true;
	}
}

struct decoded {
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static void decode(const struct arch_ops *arch, const struct insn *insn,
		   struct decoded *ret)
{
	bool wide = arch->word_size == 8;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	ck_assert(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, insn->bytes,
						      insn->length, &ret->zydis,
						      ret->operands)));
}

static int number_of(ZydisRegister r)
{
	ZydisRegister full =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return full >= ZYDIS_REGISTER_RAX && full <= ZYDIS_REGISTER_R15 ?
		       (int)(full - ZYDIS_REGISTER_RAX) :
		       -1;
}

/* Every memory operand at some place of ours, aligned for vectors. */
static void aim_operands(struct machine *m, const struct arch_ops *arch,
			 const struct decoded *decoded, struct regs *regs)
{
	regs->user.fs_base = regs->user.gs_base = DATA;
	for (unsigned i = 0; i < decoded->zydis.operand_count; i++) {
		const ZydisDecodedOperandMem *mem = &decoded->operands[i].mem;
		bool based = mem->segment == ZYDIS_REGISTER_FS ||
			     mem->segment == ZYDIS_REGISTER_GS;
		uint64_t place = random_place(m) & ~63ul;
		int index;

		if (decoded->operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		index = number_of(mem->index);
		if (index >= 0)
			*general(regs, index) = random_below(m, 8);
		if (based && arch->word_size == 8)
			place -= DATA;
		aim(regs, number_of(mem->base), index, mem->scale,
		    mem->disp.value, place);
	}
	/* Counts of string instructions, as far as they are ones. */
	if (decoded->zydis.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
	     ZYDIS_ATTRIB_HAS_REPNE))
		regs->user.rcx = random_below(m, 8);
	truncate_registers(arch, regs);
}

/*
 * Steps from start until ip is not the instruction's own any more: a string
 * instruction stops after each round.
 */
static void run(struct machine *m, const struct state *start, taddr_t at,
		size_t vectors, struct state *ret)
{
	*ret = *start;
	memcpy((void *)FIRST_DATA, start->data, DATA_SIZE);
	vectors_set(m, ret, vectors);
	ret->regs.user.rip = at;
	for (int i = 0; i < 64; i++) {
		ret->signal = machine_step(m, &ret->regs);
		if (ret->signal != SIGTRAP || ret->regs.user.rip != at)
			break;
	}
	vectors_get(m, ret);
	memset(ret->vectors + X87_IP, 0, X87_IP_SIZE);
	memset(ret->vectors + IN_USE, 0, IN_USE_SIZE);
	memcpy(ret->data, (void *)FIRST_DATA, DATA_SIZE);
}

static void check_map(const struct insn *insn, const int8_t *resume, int size)
{
	bool comes_back = !x86_jumps_through_memory(insn);

	ck_assert_int_le(size, INSN_COPY_MAX);
	ck_assert_int_eq(size > insn->length, comes_back);
	for (int i = 0; i < INSN_COPY_MAX; i++) {
		int expected = i == 0                          ? 0 :
			       i == insn->length && comes_back ? insn->length :
								 -1;

		ck_assert_int_eq(resume[i], expected);
	}
}

/* The jump back, on its own: to behind the original and nothing else. */
static void check_way_back(struct machine *m, const struct arch_ops *arch,
			   const struct insn *insn, struct state *copied)
{
	struct regs before = copied->regs;

	ck_assert_int_eq(machine_step(m, &copied->regs), SIGTRAP);
	before.user.rip = CODE + insn->length;
	compare_registers(insn, arch, ARITHMETIC | DIRECTION, &copied->regs,
			  &before);
}

static void compare_states(struct machine *m, const struct arch_ops *arch,
			   const struct insn *insn, taddr_t to,
			   const int8_t *resume, struct state *copied,
			   struct state *original)
{
	taddr_t offset = copied->regs.user.rip - to;
	/* Or it has jumped, to wherever: behind its copy as well. */
	bool in_copy = offset < INSN_COPY_MAX &&
		       (!offset || !x86_jumps_through_memory(insn));

	ck_assert_msg(copied->signal == original->signal,
		      "%s %s: signal %d, not %d", arch->name, hex(insn),
		      copied->signal, original->signal);
	if (in_copy && offset == insn->length) {
		check_way_back(m, arch, insn, copied);
	} else if (in_copy) {
		ck_assert_msg(resume[offset] == 0, "%s %s: stopped at %d",
			      arch->name, hex(insn), (int)offset);
		copied->regs.user.rip = CODE;
	}
	compare_registers(insn, arch, ARITHMETIC | DIRECTION, &copied->regs,
			  &original->regs);
	ck_assert_msg(!memcmp(copied->vectors, original->vectors,
			      sizeof(copied->vectors)),
		      "%s %s: vectors differ", arch->name, hex(insn));
	ck_assert_msg(!memcmp(copied->data, original->data, DATA_SIZE),
		      "%s %s: memory differs", arch->name, hex(insn));
}

static void check_copy(struct machine *m, const struct arch_ops *arch,
		       const struct insn *insn, struct state *start,
		       size_t vectors, taddr_t to)
{
	static struct state copied, original;
	int8_t resume[INSN_COPY_MAX];
	uint8_t copy[INSN_COPY_MAX];
	int size = arch->insn_relocate(insn, to, copy, resume);

	if (insn->near && to == FAR_COPY) {
		ck_assert_int_eq(size, -ERANGE);
		return;
	}
	check_map(insn, resume, size);
	memcpy((void *)CODE, insn->bytes, insn->length);
	memcpy((void *)to, copy, (size_t)size);
	run(m, start, CODE, vectors, &original);
	run(m, start, to, vectors, &copied);
	compare_states(m, arch, insn, to, resume, &copied, &original);
}

static void random_state(struct machine *m, const struct arch_ops *arch,
			 const struct decoded *decoded, struct state *ret)
{
	random_registers(m, arch, &ret->regs);
	aim_operands(m, arch, decoded, &ret->regs);
	memcpy(ret->data, m->before, DATA_SIZE);
	for (size_t i = FIRST_XMM; i < FIRST_XMM + XMM_SIZE; i += 8) {
		uint64_t value = random64(m);

		memcpy(ret->vectors + i, &value, sizeof(value));
	}
	ret->vectors[IN_USE] |= 3;
}

/* Aims what is relative to ip at our data, as all else. */
static void aim_relative(struct machine *m, const struct arch_ops *arch,
			 struct insn *insn)
{
	int32_t displacement = (int32_t)((random_place(m) & ~63ul) -
					 (insn->address + insn->length));
	uint8_t code[15];

	memcpy(code, insn->bytes, sizeof(code));
	memcpy(code + insn->op.relative, &displacement, sizeof(displacement));
	ck_assert(!arch->insn_decode(insn->address, code, insn->length, insn));
}

struct census {
	unsigned count[INSN_STEP + 1];
	unsigned copied;
	uint8_t seen[1 << 16];
};

static bool is_new(struct census *census, const struct insn *insn)
{
	uint32_t hash = 2166136261u;

	for (unsigned i = 0; i < insn->length; i++)
		hash = (hash ^ insn->bytes[i]) * 16777619u;
	hash ^= hash >> 16;
	return !census->seen[hash & 0xffff]++;
}

static void check_insn(struct machine *m, const struct arch_ops *arch,
		       struct insn *insn, struct census *census)
{
	static struct state start;
	struct decoded decoded;
	uint8_t copy[INSN_COPY_MAX];
	int8_t resume[INSN_COPY_MAX];
	size_t vectors;

	census->count[insn->way]++;
	if (!is_new(census, insn))
		return;
	if (arch->insn_relocate(insn, COPY, copy, resume) == -EINVAL) {
		ck_assert_msg(insn->way != INSN_RELOCATE, "%s", hex(insn));
		return;
	}
	if (insn->near)
		aim_relative(m, arch, insn);
	decode(arch, insn, &decoded);
	if (!repeatable(decoded.zydis.mnemonic))
		return;
	vectors = vectors_get(m, &start);
	random_state(m, arch, &decoded, &start);
	check_copy(m, arch, insn, &start, vectors, COPY);
	check_copy(m, arch, insn, &start, vectors,
		   arch->word_size == 8 ? FAR_COPY : HIGH_COPY);
	census->copied++;
}

/* A few instructions from each function's entry on. */
static void check_function(struct machine *m, const struct arch_ops *arch,
			   const uint8_t *code, size_t size,
			   struct census *census)
{
	for (int i = 0; i < 6 && size; i++) {
		struct insn insn;

		if (arch->insn_decode(CODE, code, size, &insn))
			return;
		code += insn.length;
		size -= insn.length;
		check_insn(m, arch, &insn, census);
	}
}

static void check_symbol(struct machine *m, const struct arch_ops *arch,
			 Elf *elf, const GElf_Sym *sym, struct census *census)
{
	Elf_Scn *section = elf_getscn(elf, sym->st_shndx);
	GElf_Shdr header;
	Elf_Data *data;
	uint64_t offset;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC ||
	    sym->st_shndx >= SHN_LORESERVE || !sym->st_size || !section ||
	    !gelf_getshdr(section, &header))
		return;
	data = elf_rawdata(section, NULL);
	offset = sym->st_value - header.sh_addr;
	if (!data || !data->d_buf || offset >= data->d_size ||
	    sym->st_size > data->d_size - offset)
		return;
	check_function(m, arch, (const uint8_t *)data->d_buf + offset,
		       sym->st_size, census);
}

static void check_symbols(struct machine *m, const struct arch_ops *arch,
			  Elf *elf, struct census *census)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym sym;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_DYNSYM)
			continue;
		for (int i = 0; gelf_getsym(data, i, &sym); i++)
			check_symbol(m, arch, elf, &sym, census);
	}
}

/* Whether there is such a library, of this architecture. */
static bool check_library(struct machine *m, const struct arch_ops *arch,
			  const char *path, struct census *census)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ours;
	Elf *elf;

	if (fd < 0)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	ours = gelf_getclass(elf) == arch->elf_class;
	if (ours)
		check_symbols(m, arch, elf, census);
	elf_end(elf);
	close(fd);
	return ours;
}

static void check_libraries(const struct arch_ops *arch,
			    const char *const *paths, size_t n)
{
	static struct machine m;
	static struct census census;
	unsigned found = 0, total = 0;

	elf_version(EV_CURRENT);
	machine_start(&m);
	random_memory(&m, arch);
	if (arch->word_size == 4 && !runs_32_bits(&m)) {
		machine_stop(&m);
		fprintf(stderr, "# no 32-bit code here: skipped\n");
		return;
	}
	for (size_t i = 0; i < n; i++)
		found += check_library(&m, arch, paths[i], &census);
	machine_stop(&m);
	if (!found) {
		fprintf(stderr, "# no %s library: skipped\n", arch->name);
		return;
	}
	for (int i = 0; i <= INSN_STEP; i++)
		total += census.count[i];
	fprintf(stderr, "# %s: %u emulated, %u relocated, %u stepped; %u run\n",
		arch->name, census.count[INSN_EMULATE],
		census.count[INSN_RELOCATE], census.count[INSN_STEP],
		census.copied);
	ck_assert_uint_gt(census.copied, 500);
	ck_assert_uint_lt(census.count[INSN_STEP], total / 50);
}

START_TEST(copies_do_what_the_originals_do_x86_64)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/lib64/libc.so.6",
		"/lib64/libm.so.6",
		"/lib64/libcrypto.so.3",
		"/lib64/libstdc++.so.6",
		"/usr/lib/libc.so.6",
	};

	check_libraries(&arch_x86_64, paths, ARRAY_SIZE(paths));
}
END_TEST

START_TEST(copies_do_what_the_originals_do_i386)
{
	static const char *const paths[] = {
		"/lib32/libc.so.6",
		"/lib32/libm.so.6",
		"/usr/lib32/libstdc++.so.6",
		"/lib/i386-linux-gnu/libc.so.6",
		"/lib/i386-linux-gnu/libm.so.6",
		"/usr/lib/libc.so.6",
	};

	check_libraries(&arch_i386, paths, ARRAY_SIZE(paths));
}
END_TEST

static Suite *relocate_suite(void)
{
	Suite *suite = suite_create("relocate");
	TCase *copies = tcase_create("copies");

	tcase_set_timeout(copies, 120);
	tcase_add_test(copies, copies_do_what_the_originals_do_x86_64);
	tcase_add_test(copies, copies_do_what_the_originals_do_i386);
	suite_add_tcase(suite, copies);
	return suite;
}

int main(void)
{
	return unit_run(relocate_suite());
}
