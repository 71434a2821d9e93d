/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A prototype file, and behind its first NUL the memory and the arguments of
 * a process that calls every function in it.
 */
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "prototype/definitions.h"
#include "prototype/parser.h"

#define DATA 0x1000u
#define WORDS 8

struct input {
	struct memory memory;
	const uint8_t *bytes;
	size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t input_read(struct memory *memory, taddr_t address, void *ret,
			 size_t size)
{
	const struct input *input = (const struct input *)memory;
	uint64_t at = address - DATA;

	if (address < DATA || at >= input->size)
		return 0;
	if (size > input->size - at)
		size = input->size - at;
	memcpy(ret, input->bytes + at, size);
	return size;
}

/* Half of them are addresses in the memory. */
static int input_argument(const struct regs *entry, struct memory *memory,
			  unsigned index, uint64_t *ret)
{
	(void)entry;
	if (memory_read(memory, DATA + index % WORDS * 8, ret, 8) < 0)
		return -EFAULT;
	if (*ret & 1)
		*ret = DATA + *ret % 256;
	return 0;
}

static uint64_t input_result(const struct regs *regs)
{
	return regs->user.rax;
}

static const struct memory_ops input_ops = { .read = input_read };
static const struct arch_ops machines[] = {
	{ .word_size = 8, .argument = input_argument,
	  .result = input_result },
	{ .word_size = 4, .argument = input_argument,
	  .result = input_result },
};

static void print_all(const struct definitions *file, struct input *input,
		      const struct arch_ops *arch)
{
	const struct print_limits limits = { 32, 4 };
	struct regs regs = { .user.rax = input->size };
	struct call_values values = {
		.arch = arch,
		.entry_regs = &regs,
		.result_regs = &regs,
		.memory = &input->memory,
	};
	struct definition *function, *next;
	struct strbuf out = { 0 };

	HASH_ITER(hh, file->functions, function, next) {
		strbuf_clear(&out);
		prototype_print_entry(function->prototype, &values, &limits,
				      &out);
		prototype_print_later(function->prototype, &values, &limits,
				      &out);
		prototype_print_result(function->prototype, &values, &limits,
				       &out);
		if (strlen(strbuf_text(&out)) != out.length)
			__builtin_trap();
	}
	strbuf_fini(&out);
}

static void ignore(enum diag_level level, enum diag_domain domain,
		   const char *message)
{
	(void)level;
	(void)domain;
	(void)message;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = size ? memchr(bytes, '\0', size) : NULL;
	struct input input = { .memory = { &input_ops }, .bytes = bytes };
	struct prototypes *prototypes = prototypes_new();
	struct definitions *file = definitions_new("fuzz.conf");

	diag_set_receiver(ignore);
	if (end) {
		input.bytes = end + 1;
		input.size = bytes + size - input.bytes;
	}
	parser_read(prototypes, file, (const char *)bytes,
		    end ? (size_t)(end - bytes) : size);
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		print_all(file, &input, &machines[i]);
	definitions_free(file);
	prototypes_free(prototypes);
	return 0;
}
