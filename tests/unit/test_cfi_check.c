/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "stack/cfi_check.h"
#include "unit.h"

/* A CIE as gcc writes it, and FDEs around the instructions of each test. */
static uint8_t cie_bytes[] = {
	20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
	1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0,
};

enum { CIE_ENCODING = 16, CIE_DATA_SIZE = 15, CIE_COLUMN = 14 };

static bool check_with(uint8_t *cie, size_t cie_size, const uint8_t *code,
		       size_t size)
{
	uint8_t fde[17 + 4096] = { 0 };
	struct cfi_entry entry = {
		.cie = { .bytes = cie, .size = cie_size, .address = 0x1000 },
		.fde = { .bytes = fde,
			 .size = 17 + size,
			 .address = 0x1000 + cie_size },
	};

	ck_assert_uint_le(size, 4096);
	memcpy(fde + 17, code, size);
	return cfi_check(&entry, &arch_x86_64);
}

#define PASSES(...)                                  \
	check_with(cie_bytes, sizeof(cie_bytes),     \
		   (const uint8_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }))

START_TEST(what_compilers_write)
{
	/* push, mov rsp to rbp, a body, leave */
	ck_assert(PASSES(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x60,
			 0x0a, 0xc6, 0x0c, 7, 8, 0x04, 1, 2, 3, 4, 0x0b));
	/* expressions, as of a PLT */
	ck_assert(PASSES(0x0f, 3, 0x77, 8, 0x06, 0x10, 6, 2, 0x76, 0, 0x16, 3,
			 1, 0x50));
	/* registers that libunwind has not, of which it knows that */
	ck_assert(PASSES(0x05, 40, 3, 0x08, 66));
}
END_TEST

START_TEST(a_register_that_is_an_index)
{
	ck_assert(PASSES(0x09, 3, 16));
	ck_assert(!PASSES(0x09, 3, 17));
	ck_assert(!PASSES(0x09, 0, 0x88, 0x0f));
	/* shifted beyond 64 bits, it would be 5 again */
	ck_assert(!PASSES(0x09, 0, 0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			  0x80, 0x80, 0x80, 0x01));
	/* within an expression it is none */
	ck_assert(PASSES(0x0f, 3, 0x09, 3, 17));
}
END_TEST

/* It would be: register 3 is in the register after the last. */
START_TEST(what_libunwind_reads_otherwise)
{
	ck_assert(!PASSES(0x14, 0x09, 3, 17));
	ck_assert(!PASSES(0x15, 0x09, 3, 17));
}
END_TEST

START_TEST(records_of_the_same_bytes)
{
	uint8_t fde[24] = { 0 };
	struct cfi_entry entry = {
		.cie = { .bytes = cie_bytes,
			 .size = sizeof(cie_bytes),
			 .address = 0x1000 },
		.fde = { .bytes = fde, .size = sizeof(fde) },
	};

	entry.fde.address = 0x1000 + sizeof(cie_bytes);
	ck_assert(cfi_check(&entry, &arch_x86_64));
	entry.fde.address--;
	ck_assert(!cfi_check(&entry, &arch_x86_64));
	entry.fde.address = 0x1000 - sizeof(fde);
	ck_assert(cfi_check(&entry, &arch_x86_64));
	entry.fde.address++;
	ck_assert(!cfi_check(&entry, &arch_x86_64));
}
END_TEST

START_TEST(states_that_are_remembered)
{
	uint8_t code[1024];

	memset(code, 0x0a, sizeof(code));
	ck_assert(check_with(cie_bytes, sizeof(cie_bytes), code, 512));
	ck_assert(!check_with(cie_bytes, sizeof(cie_bytes), code, 513));
	/* operands that look like it */
	for (size_t i = 0; i < sizeof(code); i += 2)
		code[i] = 0x0e;
	ck_assert(check_with(cie_bytes, sizeof(cie_bytes), code, sizeof(code)));
}
END_TEST

START_TEST(what_does_not_end)
{
	ck_assert(!PASSES(0x0e));
	ck_assert(!PASSES(0x0e, 0x80));
	ck_assert(!PASSES(0x04, 1, 2, 3));
	ck_assert(!PASSES(0x0f, 2, 0x77));
	ck_assert(!PASSES(0x17));
	ck_assert(!PASSES(0x3f));
}
END_TEST

/* A CIE with one byte changed; the FDE has room for larger addresses. */
static bool passes_with(size_t at, uint8_t byte)
{
	static const uint8_t nothing[8];
	uint8_t cie[sizeof(cie_bytes)];

	memcpy(cie, cie_bytes, sizeof(cie));
	cie[at] = byte;
	return check_with(cie, sizeof(cie), nothing, sizeof(nothing));
}

START_TEST(where_instructions_begin)
{
	ck_assert(passes_with(CIE_ENCODING, 0x1b));
	ck_assert(passes_with(CIE_ENCODING, 0x00));
	ck_assert(!passes_with(CIE_ENCODING, 0x50));
	ck_assert(!passes_with(CIE_ENCODING, 0xff));
	ck_assert(!passes_with(CIE_ENCODING, 0x01));
	ck_assert(!passes_with(CIE_DATA_SIZE, 2));
	ck_assert(!passes_with(CIE_COLUMN, 17));
	ck_assert(!passes_with(4, 1));
	ck_assert(!passes_with(8, 2));
	ck_assert(!passes_with(9, 'y'));
	ck_assert(!passes_with(10, 'X'));
}
END_TEST

/* libunwind finds them behind what letters stand for, whatever size is told. */
static bool passes_with_letters(const char *letters, const uint8_t *data,
				uint8_t size)
{
	static const uint8_t nothing[8];
	uint8_t cie[64] = { 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	size_t at = 9 + strlen(letters) + 1;

	memcpy(cie + 9, letters, strlen(letters));
	cie[at++] = 1;
	cie[at++] = 0x78;
	cie[at++] = 16;
	cie[at++] = size;
	memcpy(cie + at, data, size);
	return check_with(cie, at + size, nothing, sizeof(nothing));
}

START_TEST(letters_of_the_augmentation)
{
	static const uint8_t personality[] = { 0x9b, 1, 2, 3, 4, 0x1b, 0x1b };
	static const uint8_t of_two_bytes[] = { 0x02, 0x1b, 0x1b };
	static const uint8_t last[] = { 0x1b, 0x1b, 0x1b, 1, 2, 3, 4 };

	ck_assert(passes_with_letters("zPLR", personality, 7));
	ck_assert(!passes_with_letters("zPLR", personality, 6));
	ck_assert(!passes_with_letters("zPLR", of_two_bytes, 3));
	ck_assert(passes_with_letters("zLRP", last, 7));
	/* it keeps four of them */
	ck_assert(!passes_with_letters("zLSRP", last, 7));
}
END_TEST

static Suite *cfi_check_suite(void)
{
	Suite *suite = suite_create("cfi_check");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, what_compilers_write);
	tcase_add_test(tcase, a_register_that_is_an_index);
	tcase_add_test(tcase, what_libunwind_reads_otherwise);
	tcase_add_test(tcase, records_of_the_same_bytes);
	tcase_add_test(tcase, states_that_are_remembered);
	tcase_add_test(tcase, what_does_not_end);
	tcase_add_test(tcase, where_instructions_begin);
	tcase_add_test(tcase, letters_of_the_augmentation);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(cfi_check_suite());
}
