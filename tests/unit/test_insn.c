/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "sysdeps/arch.h"
#include "sysdeps/x86/insn.h"
#include "unit.h"

/* What the manual leaves open, or what only the step itself sets. */
static uint64_t defined_flags(const struct insn *insn)
{
	uint64_t flags = ARITHMETIC | DIRECTION;

	switch (insn->op.kind) {
	case X86_AND:
	case X86_OR:
	case X86_XOR:
	case X86_TEST:
		flags &= ~ADJUST;
	}
	return flags;
}

static void compare_memory(struct machine *m, const struct arch_ops *arch,
			   const struct insn *insn)
{
	ck_assert_msg(!memcmp(m->after, (void *)FIRST_DATA, DATA_SIZE),
		      "%s %s: memory differs", arch->name, hex(insn));
}

/* Whether it was carried out (else both faulted alike). */
static bool check_emulation(struct machine *m, const struct arch_ops *arch,
			    const struct insn *insn, const struct regs *start)
{
	struct regs ours = *start, native = *start;
	int err, signal;

	memcpy((void *)CODE, insn->bytes, sizeof(insn->bytes));
	err = arch->insn_emulate(insn, &ours, &m->memory);
	memcpy(m->after, (void *)FIRST_DATA, DATA_SIZE);
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
	signal = machine_step(m, &native);
	if (!err) {
		ck_assert_msg(signal == SIGTRAP, "%s %s: signal %d", arch->name,
			      hex(insn), signal);
		compare_registers(insn, arch, defined_flags(insn), &ours,
				  &native);
		compare_memory(m, arch, insn);
		memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
		return true;
	}
	ck_assert_int_eq(err, -EFAULT);
	ck_assert_msg(!memcmp(&ours, start, sizeof(ours)),
		      "%s %s: registers changed", arch->name, hex(insn));
	ck_assert_msg(!memcmp(m->after, m->before, DATA_SIZE),
		      "%s %s: memory changed", arch->name, hex(insn));
	ck_assert_msg(signal != SIGTRAP || native.user.rip >> 47,
		      "%s %s: nothing wrong with it", arch->name, hex(insn));
	memcpy((void *)FIRST_DATA, m->before, DATA_SIZE);
	return false;
}

/* Opcodes of what can be emulated, and neighbours that can't. */
static const uint16_t opcodes[] = {
	0x00,   0x01,   0x02,   0x03,   0x04,   0x05,   0x08,   0x09,   0x0a,
	0x0b,   0x0c,   0x0d,   0x20,   0x21,   0x22,   0x23,   0x24,   0x25,
	0x28,   0x29,   0x2a,   0x2b,   0x2c,   0x2d,   0x30,   0x31,   0x32,
	0x33,   0x34,   0x35,   0x38,   0x39,   0x3a,   0x3b,   0x3c,   0x3d,
	0x50,   0x53,   0x54,   0x55,   0x58,   0x5b,   0x5c,   0x5d,   0x63,
	0x68,   0x6a,   0x80,   0x81,   0x83,   0x84,   0x85,   0x88,   0x89,
	0x8a,   0x8b,   0x8d,   0x8f,   0x90,   0x98,   0xa0,   0xa1,   0xa8,
	0xa9,   0xb0,   0xb4,   0xb8,   0xbc,   0xc2,   0xc3,   0xc6,   0xc7,
	0xc9,   0xe0,   0xe1,   0xe2,   0xe3,   0xe8,   0xe9,   0xeb,   0xf6,
	0xf7,   0xff,   0xff,   0xff,   0x0f1f, 0x0f1e, 0x0fb6, 0x0fb7, 0x0fbe,
	0x0fbf, 0x70,   0x71,   0x72,   0x73,   0x74,   0x75,   0x76,   0x77,
	0x78,   0x79,   0x7a,   0x7b,   0x7c,   0x7d,   0x7e,   0x7f,   0x0f80,
	0x0f81, 0x0f82, 0x0f83, 0x0f84, 0x0f85, 0x0f86, 0x0f87, 0x0f88, 0x0f89,
	0x0f8a, 0x0f8b, 0x0f8c, 0x0f8d, 0x0f8e, 0x0f8f, 0x0f40, 0x0f41, 0x0f42,
	0x0f43, 0x0f44, 0x0f45, 0x0f46, 0x0f47, 0x0f48, 0x0f49, 0x0f4a, 0x0f4b,
	0x0f4c, 0x0f4d, 0x0f4e, 0x0f4f,
};

static size_t random_prefixes(struct machine *m, const struct arch_ops *arch,
			      uint8_t *code)
{
	static const uint8_t prefixes[] = { 0x66, 0x66, 0x67, 0x2e, 0x3e, 0xf2,
					    0xf3, 0xf0, 0x65, 0x65, 0x64, 0x66 };
	size_t n = 0;

	while (n < 3 && !random_below(m, 5))
		code[n++] = prefixes[random_below(m, ARRAY_SIZE(prefixes))];
	if (arch->word_size == 8 && random_below(m, 2))
		code[n++] = (uint8_t)(0x40 | random_below(m, 16));
	return n;
}

static void random_code(struct machine *m, const struct arch_ops *arch,
			uint8_t code[16])
{
	uint16_t opcode = opcodes[random_below(m, ARRAY_SIZE(opcodes))];
	size_t n = random_prefixes(m, arch, code);

	if (opcode >> 8)
		code[n++] = (uint8_t)(opcode >> 8);
	code[n++] = (uint8_t)opcode;
	for (; n < 16; n++)
		code[n] = (uint8_t)random64(m);
}

/* A displacement to what is there, in place of the random one. */
static void aim_relative(struct machine *m, const struct arch_ops *arch,
			 struct insn *insn)
{
	uint8_t code[15];
	int32_t displacement =
		(int32_t)(random_place(m) - insn->address - insn->length);

	memcpy(code, insn->bytes, sizeof(code));
	memcpy(code + insn->op.relative, &displacement, sizeof(displacement));
	ck_assert(!arch->insn_decode(insn->address, code, insn->length, insn));
}

enum { KINDS = X86_LOOP + 1 };

static void check_random_emulation(struct machine *m,
				   const struct arch_ops *arch,
				   unsigned done[KINDS])
{
	struct regs regs;
	struct insn insn;
	uint8_t code[16];

	random_code(m, arch, code);
	if (arch->insn_decode(CODE, code, sizeof(code), &insn) ||
	    !insn.emulable)
		return;
	if (insn.near)
		aim_relative(m, arch, &insn);
	for (int i = 0; i < 3; i++) {
		random_registers(m, arch, &regs);
		/* One in sixteen points anywhere. */
		if (random_below(m, 16))
			aim(&regs, insn.op.base, insn.op.index, insn.op.scale,
			    insn.op.displacement, random_place(m));
		else if (random_below(m, 2))
			regs.user.rsp = random_value(m);
		truncate_registers(arch, &regs);
		done[insn.op.kind] += check_emulation(m, arch, &insn, &regs);
	}
}

static void emulate_at_random(const struct arch_ops *arch)
{
	static struct machine m;
	unsigned done[KINDS] = { 0 };

	machine_start(&m);
	if (arch->word_size == 8 || runs_32_bits(&m)) {
		random_memory(&m, arch);
		for (int i = 0; i < 40000; i++)
			check_random_emulation(&m, arch, done);
		for (int kind = X86_NOP; kind < KINDS; kind++)
			ck_assert_msg(done[kind] > 20, "%s: kind %d: %u",
				      arch->name, kind, done[kind]);
	} else {
		fprintf(stderr, "# no 32-bit code here: skipped\n");
	}
	machine_stop(&m);
}

START_TEST(emulation_is_what_the_processor_does_x86_64)
{
	emulate_at_random(&arch_x86_64);
}
END_TEST

START_TEST(emulation_is_what_the_processor_does_i386)
{
	emulate_at_random(&arch_i386);
}
END_TEST

struct expected {
	const char *code;
	uint8_t length;
	enum insn_way way;
	bool emulable;
	bool near;
};

#define CODE_OF(text) text, sizeof(text) - 1

static void check_ways(const struct arch_ops *arch,
		       const struct expected *expected, size_t n)
{
	struct insn insn;

	for (size_t i = 0; i < n; i++) {
		const struct expected *e = &expected[i];
		const uint8_t *code = (const uint8_t *)e->code;

		ck_assert_msg(!arch->insn_decode(0x1000, code, e->length,
						 &insn),
			      "%s: line %zu", arch->name, i);
		ck_assert_msg(insn.length == e->length && insn.way == e->way &&
				      insn.emulable == e->emulable &&
				      insn.near == e->near,
			      "%s %s: length %d way %d emulable %d near %d",
			      arch->name, hex(&insn), insn.length, insn.way,
			      insn.emulable, insn.near);
		for (size_t room = 0; room < e->length; room++)
			ck_assert_int_eq(arch->insn_decode(0x1000, code, room,
							   &insn),
					 -EILSEQ);
	}
}

START_TEST(each_instruction_is_passed_the_right_way_x86_64)
{
	static const struct expected expected[] = {
		{ CODE_OF("\xf3\x0f\x1e\xfa"), INSN_EMULATE, true, false },
		{ CODE_OF("\x90"), INSN_EMULATE, true, false },
		{ CODE_OF("\x66\x90"), INSN_EMULATE, true, false },
		/* nopw %cs:0x0(%rax,%rax,1) */
		{ CODE_OF("\x66\x2e\x0f\x1f\x84\0\0\0\0\0"), INSN_EMULATE, true,
		  false },
		/* xchg %eax,%r8d and xchg %eax,%eax, which clears */
		{ CODE_OF("\x41\x90"), INSN_RELOCATE, false, false },
		{ CODE_OF("\x87\xc0"), INSN_RELOCATE, false, false },
		/* push %rbp, push %fs, pushw $1 */
		{ CODE_OF("\x55"), INSN_RELOCATE, true, false },
		{ CODE_OF("\x0f\xa0"), INSN_RELOCATE, false, false },
		{ CODE_OF("\x66\x6a\x01"), INSN_RELOCATE, false, false },
		/* mov %rsp,%rbp, mov %fs:0x28,%rax, mov 8(%rip),%rax */
		{ CODE_OF("\x48\x89\xe5"), INSN_EMULATE, true, false },
		{ CODE_OF("\x64\x48\x8b\x04\x25\x28\0\0\0"), INSN_RELOCATE,
		  true, false },
		{ CODE_OF("\x48\x8b\x05\x08\0\0\0"), INSN_RELOCATE, true,
		  true },
		/* lea 8(%rip),%rdi, also with data16; lea 8(%eip),%edi */
		{ CODE_OF("\x48\x8d\x3d\x08\0\0\0"), INSN_EMULATE, true, true },
		{ CODE_OF("\x66\x48\x8d\x3d\x08\0\0\0"), INSN_EMULATE, true,
		  true },
		{ CODE_OF("\x67\x8d\x3d\x08\0\0\0"), INSN_RELOCATE, false,
		  true },
		/* add $1,(%rax), plain and locked; cmpl $0,8(%rip) */
		{ CODE_OF("\x83\x00\x01"), INSN_RELOCATE, false, false },
		{ CODE_OF("\xf0\x83\x00\x01"), INSN_RELOCATE, false, false },
		{ CODE_OF("\x83\x3d\x08\0\0\0\0"), INSN_RELOCATE, true, true },
		/* movaps %xmm0,(%rsp), rep movsb, pushf, cpuid */
		{ CODE_OF("\x0f\x29\x04\x24"), INSN_RELOCATE, false, false },
		{ CODE_OF("\xf3\xa4"), INSN_RELOCATE, false, false },
		{ CODE_OF("\x9c"), INSN_RELOCATE, false, false },
		{ CODE_OF("\x0f\xa2"), INSN_RELOCATE, false, false },
		/* call: plain, addr32, as for __tls_get_addr, 16 bits */
		{ CODE_OF("\xe8\0\0\0\0"), INSN_EMULATE, true, false },
		{ CODE_OF("\x67\xe8\0\0\0\0"), INSN_EMULATE, true, false },
		{ CODE_OF("\x66\x66\x48\xe8\0\0\0\0"), INSN_EMULATE, true,
		  false },
		{ CODE_OF("\x66\xe8\0\0\0\0"), INSN_STEP, false, false },
		/* call *8(%rip), call *%fs:8, call *(%eax), lcall */
		{ CODE_OF("\xff\x15\x08\0\0\0"), INSN_EMULATE, true, true },
		{ CODE_OF("\x64\xff\x14\x25\x08\0\0\0"), INSN_EMULATE, true,
		  false },
		{ CODE_OF("\x67\xff\x10"), INSN_STEP, false, false },
		{ CODE_OF("\xff\x18"), INSN_STEP, false, false },
		/* jmp *8(%rip): plain, bnd, notrack; jmp *%fs:8, ljmp */
		{ CODE_OF("\xff\x25\x08\0\0\0"), INSN_RELOCATE, true, true },
		{ CODE_OF("\xf2\xff\x25\x08\0\0\0"), INSN_RELOCATE, true,
		  true },
		{ CODE_OF("\x3e\xff\x25\x08\0\0\0"), INSN_RELOCATE, true,
		  true },
		{ CODE_OF("\x3e\xff\xe0"), INSN_EMULATE, true, false },
		{ CODE_OF("\x64\xff\x24\x25\x08\0\0\0"), INSN_RELOCATE, true,
		  false },
		{ CODE_OF("\xff\x28"), INSN_STEP, false, false },
		/* ret, rep ret, bnd ret, lret, iretq */
		{ CODE_OF("\xc3"), INSN_EMULATE, true, false },
		{ CODE_OF("\xf3\xc3"), INSN_EMULATE, true, false },
		{ CODE_OF("\xf2\xc3"), INSN_EMULATE, true, false },
		{ CODE_OF("\xcb"), INSN_STEP, false, false },
		{ CODE_OF("\x48\xcf"), INSN_STEP, false, false },
		/* je, with a hint; jrcxz, jecxz, loop */
		{ CODE_OF("\x2e\x74\x05"), INSN_EMULATE, true, false },
		{ CODE_OF("\xe3\x05"), INSN_EMULATE, true, false },
		{ CODE_OF("\x67\xe3\x05"), INSN_EMULATE, true, false },
		{ CODE_OF("\xe2\x05"), INSN_EMULATE, true, false },
		/* loopne with a prefix that processors disagree about */
		{ CODE_OF("\xf3\xe0\x05"), INSN_STEP, false, false },
		{ CODE_OF("\xf2\xe1\x05"), INSN_STEP, false, false },
		/* syscall, sysenter, int $0x80, int3, int1, ud2, hlt */
		{ CODE_OF("\x0f\x05"), INSN_STEP, false, false },
		{ CODE_OF("\x0f\x34"), INSN_STEP, false, false },
		{ CODE_OF("\xcd\x80"), INSN_STEP, false, false },
		{ CODE_OF("\xcc"), INSN_STEP, false, false },
		{ CODE_OF("\xf1"), INSN_STEP, false, false },
		{ CODE_OF("\x0f\x0b"), INSN_STEP, false, false },
		{ CODE_OF("\xf4"), INSN_STEP, false, false },
		/* xbegin */
		{ CODE_OF("\xc7\xf8\0\0\0\0"), INSN_STEP, false, false },
	};

	check_ways(&arch_x86_64, expected, ARRAY_SIZE(expected));
}
END_TEST

START_TEST(each_instruction_is_passed_the_right_way_i386)
{
	static const struct expected expected[] = {
		{ CODE_OF("\xf3\x0f\x1e\xfb"), INSN_EMULATE, true, false },
		{ CODE_OF("\x8d\x74\x26\x00"), INSN_EMULATE, true, false },
		{ CODE_OF("\x55"), INSN_RELOCATE, true, false },
		{ CODE_OF("\x40"), INSN_RELOCATE, false, false },
		/* call 1f; ... mov (%esp),%ebx */
		{ CODE_OF("\xe8\0\0\0\0"), INSN_EMULATE, true, false },
		{ CODE_OF("\x8b\x1c\x24"), INSN_RELOCATE, true, false },
		/* mov 0x8(%ip),%eax needs 64 bits: here, an address */
		{ CODE_OF("\x8b\x05\x08\0\0\0"), INSN_RELOCATE, true, false },
		{ CODE_OF("\x66\xe8\0\0"), INSN_STEP, false, false },
		{ CODE_OF("\xff\xa3\x0c\0\0\0"), INSN_RELOCATE, true, false },
		{ CODE_OF("\x65\xff\x15\x10\0\0\0"), INSN_EMULATE, true,
		  false },
		{ CODE_OF("\x9a\0\0\0\0\0\0"), INSN_STEP, false, false },
		{ CODE_OF("\xea\0\0\0\0\0\0"), INSN_STEP, false, false },
		{ CODE_OF("\xcd\x80"), INSN_STEP, false, false },
		{ CODE_OF("\x0f\x34"), INSN_STEP, false, false },
		{ CODE_OF("\xce"), INSN_STEP, false, false },
		{ CODE_OF("\x60"), INSN_RELOCATE, false, false },
	};

	check_ways(&arch_i386, expected, ARRAY_SIZE(expected));
}
END_TEST

static bool same_bytes(const struct insn *insn, const uint8_t *code)
{
	return insn->length >= 1 && insn->length <= 15 &&
	       !memcmp(insn->bytes, code, insn->length);
}

START_TEST(noise_is_decoded_or_refused)
{
	const struct arch_ops *const both[] = { &arch_x86_64, &arch_i386 };
	static struct machine m = { .seed = 4711 };
	unsigned refused = 0;

	for (unsigned i = 0; i < 400000; i++) {
		const struct arch_ops *arch = both[i % 2];
		uint64_t noise[2] = { random64(&m), random64(&m) };
		size_t n = random_below(&m, 16);
		uint8_t code[15];
		struct insn insn;

		memcpy(code, noise, sizeof(code));
		if (arch->insn_decode(CODE, code, n, &insn)) {
			refused++;
			continue;
		}
		ck_assert_uint_le(insn.length, n);
		ck_assert(same_bytes(&insn, code));
		ck_assert(insn.way != INSN_EMULATE || insn.emulable);
	}
	ck_assert_uint_gt(refused, 1000);
}
END_TEST

static Suite *insn_suite(void)
{
	Suite *suite = suite_create("insn");
	TCase *emulation = tcase_create("emulation");
	TCase *decoding = tcase_create("decoding");

	tcase_set_timeout(emulation, 120);
	tcase_add_test(emulation, emulation_is_what_the_processor_does_x86_64);
	tcase_add_test(emulation, emulation_is_what_the_processor_does_i386);
	suite_add_tcase(suite, emulation);
	tcase_add_test(decoding,
		       each_instruction_is_passed_the_right_way_x86_64);
	tcase_add_test(decoding, each_instruction_is_passed_the_right_way_i386);
	tcase_add_test(decoding, noise_is_decoded_or_refused);
	suite_add_tcase(suite, decoding);
	return suite;
}

int main(void)
{
	return unit_run(insn_suite());
}
