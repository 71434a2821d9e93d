/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86/entry.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#ifdef __x86_64__

/*
 * First instructions of functions, moved and run in this process: functions of
 * one argument, of which each begins in a way that C libraries' functions do.
 */
__asm__(".text\n"
	".globl entry_data\n"
	"entry_data: .long 1000\n"
	".p2align 4\n entry_pushes: push %rbp; mov %rdi, %rbp; push %rbx;"
	" sub $24, %rsp; lea 1(%rbp), %rax; add $24, %rsp; pop %rbx; pop %rbp;"
	" ret\n"
	".p2align 4\n entry_pushes_far: push %r15; push %r14; push %r13;"
	" lea 2(%rdi), %rax; pop %r13; pop %r14; pop %r15; ret\n"
	".p2align 4\n entry_branches: test %rdi, %rdi; je 1f;"
	" lea 3(%rdi), %rax; ret; 1: mov $-3, %rax; ret\n"
	".p2align 4\n entry_branches_far: test %edi, %edi; .byte 0x0f, 0x84;"
	" .long 2f - 1f; 1: lea 4(%rdi), %rax; ret; .skip 200, 0x90;"
	" 2: mov $-4, %rax; ret\n"
	".p2align 4\n entry_near: mov entry_data(%rip), %eax; add %rdi, %rax;"
	" ret\n"
	".p2align 4\n entry_near_second: push %rbx;"
	" lea entry_data(%rip), %rbx; movslq (%rbx), %rax; pop %rbx;"
	" add %rdi, %rax; ret\n"
	".p2align 4\n entry_marked: endbr64; mov %rdi, %rax; add $7, %rax; ret\n"
	".p2align 4\n entry_jumps: .byte 0xe9; .long entry_pushes - . - 4\n"
	".p2align 4\n entry_marked_jumps: endbr64; .byte 0xe9;"
	" .long entry_pushes - . - 4\n"
	".p2align 4\n entry_jumps_through: jmp *entry_pointer(%rip)\n"
	".p2align 4\n entry_large: movabs $9, %rax; add %rdi, %rax; ret\n"
	".p2align 4\n entry_thread: mov $0, %eax; mov %fs:(%rax), %rdx;"
	" lea 10(%rdi), %rax; ret\n"
	".p2align 4\n entry_calls: sub $8, %rsp; call entry_pushes;"
	" add $8, %rsp; ret\n"
	".p2align 4\n entry_calls_at_once: call entry_pushes; ret\n"
	".p2align 4\n entry_short: mov %edi, %eax; ret; nop; nop; nop\n"
	".p2align 4\n entry_jumps_short: .byte 0xeb, 14; nop; nop; nop\n"
	".p2align 4\n entry_loops: dec %rdi; jne entry_loops; ret\n"
	".data\n .p2align 3\n entry_pointer: .quad entry_pushes\n .text\n");

typedef long function(long);
extern function entry_pushes, entry_pushes_far, entry_branches,
	entry_branches_far, entry_near, entry_near_second, entry_marked,
	entry_jumps, entry_marked_jumps, entry_jumps_through, entry_large,
	entry_thread, entry_calls, entry_calls_at_once, entry_short,
	entry_jumps_short, entry_loops;

static const struct {
	function *function;
	long of_5, of_0;
} kinds[] = {
	{ entry_pushes, 6, 1 },       { entry_pushes_far, 7, 2 },
	{ entry_branches, 8, -3 },    { entry_branches_far, 9, -4 },
	{ entry_near, 1005, 1000 },   { entry_near_second, 1005, 1000 },
	{ entry_marked, 12, 7 },      { entry_jumps, 6, 1 },
	{ entry_marked_jumps, 6, 1 }, { entry_jumps_through, 6, 1 },
	{ entry_large, 14, 9 },       { entry_thread, 15, 10 },
	{ entry_loops, 0, 0 },
};

static function *const refused[] = { entry_calls, entry_calls_at_once,
				     entry_short, entry_jumps_short };

static void write_code(void *to, const void *bytes, size_t size)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, size, (off_t)(uintptr_t)to),
			 (ssize_t)size);
	close(fd);
}

static void decode(function *function, struct x86_entry *ret)
{
	ck_assert_int_eq(x86_entry_decode((uintptr_t)function,
					  (const void *)function, 32, ret),
			 0);
}

#define ROOM 8192

/* Memory that a jump from there may lead to, of all that the address space has. */
static char *map_target(const struct x86_entry *entry, taddr_t *target_ret)
{
	const taddr_t step = 64 << 20;
	taddr_t low = entry->address - (taddr_t)0x7f000000;

	for (; low < entry->address + (taddr_t)0x7f000000; low += step) {
		const taddr_t target =
			low < step ? 0 :
				     x86_entry_target(entry, low, low + step);
		const taddr_t page = target & ~(taddr_t)4095;
		void *memory;

		if (!target)
			continue;
		memory = mmap((void *)page, ROOM, PROT_READ | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			      -1, 0);
		*target_ret = target;
		if (memory == (void *)page)
			return memory;
		if (memory != MAP_FAILED)
			munmap(memory, ROOM);
	}
	ck_abort_msg("no room within reach");
}

static bool traps(uint8_t byte)
{
	/* int3, or none in 64 bits: push and pop of segments, daa … aas. */
	return byte == 0xcc || byte == 0x06 || byte == 0x07 || byte == 0x0e ||
	       byte == 0x16 || byte == 0x17 || byte == 0x1e || byte == 0x1f ||
	       byte == 0x27 || byte == 0x2f || byte == 0x37 || byte == 0x3f ||
	       byte == 0x60 || byte == 0x61;
}

static void check_jump(const struct x86_entry *entry, taddr_t target)
{
	uint8_t jump[X86_ENTRY_SIZE];
	unsigned i, at = 0;

	x86_entry_jump(entry, target, jump);
	ck_assert_uint_eq(jump[0], 0xe9);
	for (i = 0; i < entry->count; at += entry->insns[i++].length)
		if (at && at < X86_ENTRY_SIZE)
			ck_assert_msg(traps(jump[at]), "%#x at %u", jump[at],
				      at);
}

START_TEST(functions_run_behind_a_jump)
{
	uint8_t copy[X86_ENTRY_COPY_MAX], jump[X86_ENTRY_SIZE];
	uint8_t before[X86_ENTRY_SIZE];
	function *own = kinds[_i].function;
	taddr_t places[X86_ENTRY_SIZE], target;
	struct x86_entry entry;
	char *memory;
	int size;

	decode(own, &entry);
	ck_assert_uint_ge(entry.length, X86_ENTRY_SIZE);
	if (own(5) != kinds[_i].of_5 && own != entry_loops)
		ck_abort_msg("the function itself");
	memory = map_target(&entry, &target);
	check_jump(&entry, target);
	size = x86_entry_copy(&entry, target, copy, places);
	ck_assert_int_gt(size, 0);
	ck_assert_uint_eq(places[0], target);
	write_code((void *)target, copy, size);
	memcpy(before, (const void *)own, sizeof(before));
	x86_entry_jump(&entry, target, jump);
	write_code((void *)own, jump, sizeof(jump));
	if (own == entry_loops) {
		(void)own(5);
	} else {
		ck_assert_int_eq(own(5), kinds[_i].of_5);
		ck_assert_int_eq(own(0), kinds[_i].of_0);
	}
	write_code((void *)own, before, sizeof(before));
	munmap(memory, ROOM);
}
END_TEST

START_TEST(others_are_refused)
{
	struct x86_entry entry;

	ck_assert_int_lt(x86_entry_decode((uintptr_t)refused[_i],
					  (const void *)refused[_i], 32,
					  &entry),
			 0);
}
END_TEST

START_TEST(what_is_cut_off_is_refused)
{
	struct x86_entry entry;

	ck_assert_int_lt(x86_entry_decode((uintptr_t)entry_pushes,
					  (const void *)entry_pushes, 4,
					  &entry),
			 0);
}
END_TEST

/* Bytes at which no instruction begins may be anything. */
START_TEST(targets_are_the_first_that_will_do)
{
	struct x86_entry entry;
	const taddr_t at = 0x40000000;

	ck_assert_int_eq(x86_entry_decode(at, (const void *)entry_large, 32,
					  &entry),
			 0);
	ck_assert_uint_eq(x86_entry_target(&entry, at + 777, at + 888),
			  at + 777);
	ck_assert_uint_eq(x86_entry_target(&entry, at + 777, at + 777), 0);
	ck_assert_uint_eq(x86_entry_target(&entry, at + (1ull << 31) + 5,
					   at + (1ull << 32)),
			  0);
	ck_assert_int_eq(x86_entry_decode(at, (const void *)entry_branches, 32,
					  &entry),
			 0);
	/* One byte in the midst: 0xcc0000 behind the jump, and again. */
	ck_assert_uint_eq(x86_entry_target(&entry, at, at + (1 << 30)),
			  at + 5 + 0xcc0000);
	ck_assert_uint_eq(x86_entry_target(&entry, at + 5 + 0xcd0000,
					   at + (1 << 30)),
			  at + 5 + 0x1cc0000);
}
END_TEST

/* At the ends of what a jump can lead to, and whatever the copy is to reach. */
static void check_reach(const uint8_t *code, size_t size)
{
	const taddr_t at = 0x7f0000000000, far = (taddr_t)1 << 31;
	const taddr_t from[] = { at - far + 5, at + (far - (far >> 6)) };
	uint8_t copy[X86_ENTRY_COPY_MAX];
	taddr_t places[X86_ENTRY_SIZE], target;
	struct x86_entry entry;
	size_t i;

	ck_assert_int_eq(x86_entry_decode(at, code, size, &entry), 0);
	for (i = 0; i < 2; i++) {
		target =
			x86_entry_target(&entry, from[i], from[i] + (far >> 6));
		ck_assert(target || i);
		if (!target)
			continue;
		ck_assert_int_gt(x86_entry_copy(&entry, target, copy, places),
				 0);
		ck_assert_int_gt(x86_entry_copy(&entry, target + 100, copy,
						places),
				 0);
	}
}

START_TEST(targets_reach_what_the_function_does)
{
	/* As in a large program: its slots lie megabytes behind its stubs. */
	static const uint8_t stub[] = { 0xff, 0x25, 0x02, 0x1e, 0x7a,
					0x00, 0x66, 0x90, 0x90 };
	static const uint8_t before[] = { 0x48, 0x8b, 0x05, 0x00, 0x00,
					  0x00, 0xff, 0x90, 0x90 };
	static const uint8_t jump[] = { 0xe9, 0x00, 0x00, 0x80, 0x00, 0x90 };
	static const uint8_t branch[] = { 0x0f, 0x84, 0x00, 0x00,
					  0x80, 0x00, 0x90 };

	check_reach(stub, sizeof(stub));
	check_reach(before, sizeof(before));
	check_reach(jump, sizeof(jump));
	check_reach(branch, sizeof(branch));
}
END_TEST

START_TEST(branches_are_found)
{
	struct x86_entry entry;
	uint8_t code[64] = { 0 };
	const taddr_t at = 0x40000000, other = at + 0x1000;
	int32_t distance;

	ck_assert_int_eq(x86_entry_decode(at, (const void *)entry_pushes, 32,
					  &entry),
			 0);
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0), 0);
	code[20] = 0x0f;
	code[21] = 0x84;
	distance = (int32_t)(at + 4 - (other + 26));
	memcpy(code + 22, &distance, sizeof(distance));
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0),
			  26);
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 26),
			  0);
	code[20] = 0; /* no branch */
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0), 0);
	code[21] = 0xe9;
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0),
			  26);
	distance = (int32_t)(at - (other + 26)); /* to its begin */
	memcpy(code + 22, &distance, sizeof(distance));
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0), 0);
	entry.size = 0x1000 + 21; /* of another function still */
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0), 0);
	entry.size = 0x1000 + 26; /* a loop */
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0),
			  26);
	code[21] = 0xe8; /* a recursion */
	ck_assert_uint_eq(x86_entry_find_branch(&entry, other, code, 64, 0), 0);
	memset(code, 0, sizeof(code));
	code[30] = 0xeb;
	code[31] = (uint8_t) - (32 + 40);
	ck_assert_uint_eq(x86_entry_find_branch(&entry, at + 40, code, 64, 0),
			  32);
	entry.size = 0;
	ck_assert_uint_eq(x86_entry_find_branch(&entry, at + 40, code, 64, 0),
			  0);
	memset(code, 0, sizeof(code));
	code[30] = 0xeb;
	code[31] = (uint8_t) - (32 + 40 - 3);
	ck_assert_uint_eq(x86_entry_find_branch(&entry, at + 40, code, 64, 0),
			  32);
}
END_TEST

/* In whatever place, and as near as may be to the end of what is read. */
START_TEST(branches_are_found_anywhere)
{
	struct x86_entry entry;
	const taddr_t at = 0x7f0040000000;
	uint8_t code[100] = { 0 };
	size_t i, k;

	ck_assert_int_eq(x86_entry_decode(at, (const void *)entry_pushes, 32,
					  &entry),
			 0);
	for (i = 1; i + 5 <= sizeof(code); i++)
		for (k = 0; k <= X86_ENTRY_SIZE; k++) {
			const taddr_t from = i % 2 ? at - 0x40000000 :
						     at + 0x70000000;
			const bool within = k && k < X86_ENTRY_SIZE;
			const int32_t distance =
				(int32_t)(at + k - (from + i + 5));

			memset(code, 0x90, sizeof(code));
			code[i] = 0xe9;
			memcpy(code + i + 1, &distance, sizeof(distance));
			ck_assert_uint_eq(x86_entry_find_branch(&entry, from,
								code,
								sizeof(code),
								0),
					  within ? i + 5 : 0);
			ck_assert_uint_eq(x86_entry_find_branch(&entry, from,
								code, i + 4, 0),
					  0);
		}
}
END_TEST

/* From each distance that one byte can tell, and from farther away. */
START_TEST(short_branches_are_found_anywhere)
{
	struct x86_entry entry;
	const taddr_t at = 0x40000000, target = at + 2;
	uint8_t code[40] = { 0 };
	int away;

	ck_assert_int_eq(x86_entry_decode(at, (const void *)entry_pushes, 32,
					  &entry),
			 0);
	for (away = -300; away <= 300; away++) {
		const bool told = away >= -128 && away <= 127;

		memset(code, 0x90, sizeof(code));
		code[20] = 0xeb;
		code[21] = (uint8_t)away;
		ck_assert_uint_eq(x86_entry_find_branch(
					  &entry,
					  target - 22 - (taddr_t)(int64_t)away,
					  code, sizeof(code), 0),
				  told ? 22 : 0);
	}
}
END_TEST

/* ---- all that a library has ---- */

struct library {
	const uint8_t *bytes;
	size_t size;
};

static bool map_file(const char *path, struct library *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;
	void *bytes;

	if (fd < 0)
		return false;
	ck_assert_int_eq(fstat(fd, &file), 0);
	ret->size = (size_t)file.st_size;
	bytes = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ret->bytes = bytes;
	return bytes != MAP_FAILED;
}

static taddr_t target_of(const struct insn *insn)
{
	return (taddr_t)insn->op.immediate;
}

static bool is_relative(const struct insn *insn)
{
	return (insn->op.kind == X86_JUMP || insn->op.kind == X86_JUMP_IF) &&
	       insn->op.source == X86_IMMEDIATE;
}

/* The same instruction elsewhere: what it is, and where it leads. */
static void check_same(const struct insn *a, const struct insn *b)
{
	ck_assert_uint_eq(a->op.kind, b->op.kind);
	ck_assert_uint_eq(a->near, b->near);
	if (is_relative(a)) {
		ck_assert_uint_eq(a->op.condition, b->op.condition);
		ck_assert_uint_eq(target_of(a), target_of(b));
		return;
	}
	ck_assert_uint_eq(a->length, b->length);
	if (a->near) {
		int32_t from, to;

		memcpy(&from, a->bytes + a->op.relative, sizeof(from));
		memcpy(&to, b->bytes + b->op.relative, sizeof(to));
		ck_assert_uint_eq(a->address + (taddr_t)(int64_t)from,
				  b->address + (taddr_t)(int64_t)to);
		return;
	}
	ck_assert_int_eq(memcmp(a->bytes, b->bytes, a->length), 0);
}

static void check_copy(const struct x86_entry *entry, taddr_t to)
{
	uint8_t copy[X86_ENTRY_COPY_MAX + 16] = { 0 };
	taddr_t places[X86_ENTRY_SIZE];
	struct insn insn;
	unsigned i, at = 0;
	int size = x86_entry_copy(entry, to, copy, places);

	ck_assert_int_gt(size, 0);
	ck_assert_int_le(size, X86_ENTRY_COPY_MAX);
	for (i = 0; i < entry->count; i++) {
		ck_assert_int_eq(arch_x86_64.insn_decode(to + at, copy + at,
							 sizeof(copy) - at,
							 &insn),
				 0);
		check_same(&entry->insns[i], &insn);
		at += insn.length;
	}
	ck_assert_int_eq(arch_x86_64.insn_decode(to + at, copy + at,
						 sizeof(copy) - at, &insn),
			 0);
	ck_assert(is_relative(&insn));
	ck_assert_uint_eq(target_of(&insn), entry->address + entry->length);
	ck_assert_int_eq(at + insn.length, size);
}

static const Elf64_Phdr *segment_of(const struct library *library,
				    uint64_t address)
{
	const Elf64_Ehdr *header = (const void *)library->bytes;
	const Elf64_Phdr *segments =
		(const void *)(library->bytes + header->e_phoff);
	unsigned i;

	for (i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD &&
		    segments[i].p_flags & PF_X &&
		    address >= segments[i].p_vaddr &&
		    address + 48 <= segments[i].p_vaddr + segments[i].p_filesz)
			return &segments[i];
	return NULL;
}

/* Returns whether it could be moved; if so, it was moved right. */
static bool check_function(const struct library *library, uint64_t address)
{
	const Elf64_Phdr *segment = segment_of(library, address);
	const taddr_t far = 0x7f0000000000;
	struct x86_entry entry;

	if (!segment || x86_entry_decode(far + address,
					 library->bytes + segment->p_offset +
						 (address - segment->p_vaddr),
					 48, &entry))
		return false;
	check_copy(&entry, far + address + 0x10000000);
	check_copy(&entry, far + address - 0x34000000);
	return true;
}

static void check_library(const char *path)
{
	struct library library;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	size_t i, k, all = 0, moved = 0;

	if (!map_file(path, &library))
		return;
	header = (const void *)library.bytes;
	sections = (const void *)(library.bytes + header->e_shoff);
	for (i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols =
			(const void *)(library.bytes + sections[i].sh_offset);

		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		for (k = 0; k < sections[i].sh_size / sizeof(*symbols); k++) {
			if (ELF64_ST_TYPE(symbols[k].st_info) != STT_FUNC ||
			    !symbols[k].st_shndx)
				continue;
			all++;
			moved += check_function(&library, symbols[k].st_value);
		}
	}
	munmap((void *)library.bytes, library.size);
	/* In most libraries nine of ten can. */
	if (all > 100)
		ck_assert_msg(moved > all / 2, "%s: %zu of %zu", path, moved,
			      all);
}

static void check_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096], last[4096] = "";

	while (fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path || !strstr(path, name))
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(path, last) != 0)
			check_library(path);
		snprintf(last, sizeof(last), "%s", path);
	}
	fclose(maps);
}

START_TEST(libraries_can_be_moved)
{
	check_mapped("libc.so");
	check_mapped("ld-");
	check_mapped("libelf");
	check_library("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("entry");
	TCase *tests = tcase_create("entry");

#ifdef __x86_64__
	tcase_add_loop_test(tests, functions_run_behind_a_jump, 0,
			    ARRAY_SIZE(kinds));
	tcase_add_loop_test(tests, others_are_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tests, what_is_cut_off_is_refused);
	tcase_add_test(tests, targets_are_the_first_that_will_do);
	tcase_add_test(tests, targets_reach_what_the_function_does);
	tcase_add_test(tests, branches_are_found);
	tcase_add_test(tests, branches_are_found_anywhere);
	tcase_add_test(tests, short_branches_are_found_anywhere);
	tcase_add_test(tests, libraries_can_be_moved);
#endif
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
