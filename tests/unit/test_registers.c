/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "sysdeps/arch.h"
#include "sysdeps/x86/registers.h"
#include "unit.h"

#define STACK 0x7ffc0000u

struct stack {
	struct memory memory;
	uint8_t bytes[256];
};

static size_t stack_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	struct stack *stack = (struct stack *)memory;
	uint64_t offset = address - STACK;

	if (offset >= sizeof(stack->bytes))
		return 0;
	if (size > sizeof(stack->bytes) - offset)
		size = sizeof(stack->bytes) - offset;
	memcpy(ret, stack->bytes + offset, size);
	return size;
}

static int stack_write(struct memory *memory UNUSED, taddr_t address UNUSED,
		       const void *bytes UNUSED, size_t size UNUSED)
{
	return -EFAULT;
}

static const struct memory_ops stack_ops = { stack_read, stack_write };

static void stack_init(struct stack *stack)
{
	stack->memory.ops = &stack_ops;
	for (size_t i = 0; i < sizeof(stack->bytes); i++)
		stack->bytes[i] = (uint8_t)i;
}

START_TEST(ports_are_found)
{
	struct regs regs = { .user = { .cs = 0x33 } };

	ck_assert_ptr_eq(arch_of_elf(EM_X86_64, ELFCLASS64), &arch_x86_64);
	ck_assert_ptr_eq(arch_of_elf(EM_386, ELFCLASS32), &arch_i386);
	ck_assert_ptr_null(arch_of_elf(EM_X86_64, ELFCLASS32));
	ck_assert_ptr_null(arch_of_elf(EM_AARCH64, ELFCLASS64));
	ck_assert_ptr_null(arch_of_elf(EM_386, ELFCLASSNONE));
	ck_assert_ptr_eq(arch_of_regs(&regs), &arch_x86_64);
	regs.user.cs = 0x23;
	ck_assert_ptr_eq(arch_of_regs(&regs), &arch_i386);
	regs.user.cs = 0x7;
	ck_assert_ptr_null(arch_of_regs(&regs));
}
END_TEST

START_TEST(arguments_x86_64)
{
	struct regs regs = { .user = {
				     .rdi = ~0ull,
				     .rsi = 1,
				     .rdx = 2,
				     .rcx = 3,
				     .r8 = 4,
				     .r9 = 5,
				     .rsp = STACK,
			     } };
	const uint64_t expected[] = {
		~0ull, 1, 2, 3, 4, 5, 0x0f0e0d0c0b0a0908, 0x1716151413121110,
	};
	struct stack stack;
	uint64_t value = 42;

	stack_init(&stack);
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
		ck_assert(
			!arch_x86_64.argument(&regs, &stack.memory, i, &value));
		ck_assert_uint_eq(value, expected[i]);
	}
	value = 42;
	ck_assert_int_eq(arch_x86_64.argument(&regs, &stack.memory, 37, &value),
			 -EFAULT);
	ck_assert_uint_eq(value, 42);
}
END_TEST

START_TEST(arguments_i386)
{
	struct regs regs = { .user = { .rsp = STACK | 1ull << 40 } };
	struct stack stack;
	uint64_t value = 42;

	stack_init(&stack);
	ck_assert(!arch_i386.argument(&regs, &stack.memory, 0, &value));
	ck_assert_uint_eq(value, 0x07060504);
	ck_assert(!arch_i386.argument(&regs, &stack.memory, 62, &value));
	ck_assert_uint_eq(value, 0xfffefdfc);
	ck_assert_int_eq(arch_i386.argument(&regs, &stack.memory, 63, &value),
			 -EFAULT);
	ck_assert_uint_eq(value, 0xfffefdfc);
}
END_TEST

START_TEST(pointers_and_results)
{
	struct regs regs = { .user = {
				     .rip = 0x7fff12345678,
				     .rsp = 0x7ffe00001000,
				     .rax = 0xfedcba9876543210,
			     } };

	ck_assert_uint_eq(arch_x86_64.ip(&regs), 0x7fff12345678);
	ck_assert_uint_eq(arch_x86_64.sp(&regs), 0x7ffe00001000);
	ck_assert_uint_eq(arch_x86_64.return_slot(&regs), 0x7ffe00001000);
	ck_assert_uint_eq(arch_x86_64.result(&regs), 0xfedcba9876543210);
	ck_assert_uint_eq(arch_i386.ip(&regs), 0x12345678);
	ck_assert_uint_eq(arch_i386.sp(&regs), 0x1000);
	ck_assert_uint_eq(arch_i386.return_slot(&regs), 0x1000);
	ck_assert_uint_eq(arch_i386.result(&regs), 0x76543210);
	arch_x86_64.set_ip(&regs, 0x7f0000000001);
	ck_assert_uint_eq(regs.user.rip, 0x7f0000000001);
	arch_i386.set_ip(&regs, 0x8048000);
	ck_assert_uint_eq(regs.user.rip, 0x8048000);
}
END_TEST

START_TEST(parts_of_registers)
{
	struct regs regs = { .user = { .rdx = 0x1122334455667788 } };
	const int dh = X86_AH + X86_RDX;

	ck_assert_uint_eq(x86_register_get(&regs, X86_RDX, 1), 0x88);
	ck_assert_uint_eq(x86_register_get(&regs, dh, 1), 0x77);
	ck_assert_uint_eq(x86_register_get(&regs, X86_RDX, 4), 0x55667788);
	x86_register_set(&regs, dh, 1, 0xaa);
	ck_assert_uint_eq(regs.user.rdx, 0x112233445566aa88);
	x86_register_set(&regs, X86_RDX, 2, 0x12345);
	ck_assert_uint_eq(regs.user.rdx, 0x1122334455662345);
	x86_register_set(&regs, X86_RDX, 4, 0x1ffffffff);
	ck_assert_uint_eq(regs.user.rdx, 0xffffffff);
	x86_register_set(&regs, 15, 8, 7);
	ck_assert_uint_eq(regs.user.r15, 7);
}
END_TEST

static Suite *registers_suite(void)
{
	Suite *suite = suite_create("registers");
	TCase *all = tcase_create("all");

	tcase_add_test(all, ports_are_found);
	tcase_add_test(all, arguments_x86_64);
	tcase_add_test(all, arguments_i386);
	tcase_add_test(all, pointers_and_results);
	tcase_add_test(all, parts_of_registers);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return unit_run(registers_suite());
}
