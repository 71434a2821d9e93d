/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A prototype file, and behind its first NUL the memory and the arguments of
 * a process that calls every function in it, and runs what its scripts are
 * about.
 */
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "prototype/definitions.h"
#include "prototype/numbers.h"
#include "prototype/parser.h"

#define DATA  0x1000u
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

static void input_begin(const struct regs *regs, const struct flat_value *flat,
			struct argument_cursor *ret)
{
	(void)regs;
	(void)flat;
	*ret = (struct argument_cursor){ 0 };
}

/* Half of the words are addresses in the memory. */
static int input_find(struct memory *memory, unsigned index,
		      const struct flat_value *value, struct passed *ret)
{
	uint64_t words[4] = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (memory_read(memory, DATA + (index + i) % WORDS * 8,
				&words[i], 8) == 0 &&
		    words[i] & 1)
			words[i] = DATA + words[i] % 256;
	for (unsigned i = 1; i < value->count; i++)
		if (value->scalars[i].offset < value->scalars[i - 1].offset)
			__builtin_trap();
	ret->in_memory = value->by_address || value->size > sizeof(words);
	ret->address = words[0];
	memcpy(ret->bytes, words, sizeof(words));
	return 0;
}

static int input_argument(struct argument_cursor *cursor,
			  const struct regs *regs, const struct fp_regs *fp,
			  struct memory *memory, const struct flat_value *value,
			  bool variadic, struct passed *ret)
{
	(void)regs;
	(void)fp;
	(void)variadic;
	return input_find(memory, cursor->integers++, value, ret);
}

static int input_result(const struct regs *entry, const struct regs *regs,
			const struct fp_regs *fp, struct memory *memory,
			const struct flat_value *value, struct passed *ret)
{
	(void)entry;
	(void)regs;
	(void)fp;
	return input_find(memory, 3, value, ret);
}

static bool input_needs_fp(const struct flat_value *value, bool as_result)
{
	return as_result && value->count;
}

static bool input_variadic_needs_fp(const struct regs *regs)
{
	return arch_native->result(regs);
}

static const struct convention input_convention = {
	.begin = input_begin,
	.argument = input_argument,
	.result = input_result,
	.needs_fp = input_needs_fp,
	.variadic_needs_fp = input_variadic_needs_fp,
};

/* The same as the convention has for what lies in a register. */
static int input_word(const struct regs *entry, struct memory *memory,
		      unsigned index, uint64_t *ret)
{
	const struct flat_value word = { .size = 8, .count = 1 };
	struct passed passed;

	(void)entry;
	(void)input_find(memory, index, &word, &passed);
	memcpy(ret, passed.bytes, sizeof(*ret));
	return 0;
}

static uint64_t input_word_result(const struct regs *regs)
{
	return arch_native->result(regs);
}

static const struct memory_ops input_ops = { .read = input_read };
static const struct arch_ops machines[] = {
	{ .word_size = 8,
	  .argument = input_word,
	  .result = input_word_result,
	  .convention = &input_convention,
	  .syscall_convention = &input_convention },
	{ .word_size = 4,
	  .convention = &input_convention,
	  .syscall_convention = &input_convention },
};

/* Numbers alone are printed by other means, but the same. */
static void compare_entries(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits)
{
	CLEANUP(strbuf_fini) struct strbuf quick = { 0 };
	CLEANUP(strbuf_fini) struct strbuf other = { 0 };
	struct text_writer writer;

	if (!numbers_print_entry(prototype, values, limits, &quick))
		return;
	writer = text_writer_to(&other, print_style(limits));
	prototype_write_entry(prototype, values, limits, &writer.writer);
	if (strcmp(strbuf_text(&quick), strbuf_text(&other)) != 0)
		__builtin_trap();
}

static void print_call(const struct prototype *prototype,
		       const struct call_values *values, struct strbuf *out)
{
	const struct print_limits limits = { 32, 4, NULL };

	compare_entries(prototype, values, &limits);
	strbuf_clear(out);
	prototype_print_entry(prototype, values, &limits, out);
	prototype_print_later(prototype, values, &limits, out);
	prototype_print_result(prototype, values, &limits, out);
	if (strlen(strbuf_text(out)) != out->length)
		__builtin_trap();
	prototype_needs_fp_arguments(prototype, values->arch,
				     values->entry_regs);
	prototype_needs_fp_result(prototype, values->arch);
}

static void print_all(const struct definitions *file, struct input *input,
		      const struct arch_ops *arch)
{
	struct regs regs = { 0 };
	struct call_values values = {
		.arch = arch,
		.entry_regs = &regs,
		.result_regs = &regs,
		.error = 2,
		.memory = &input->memory,
	};
	struct definition *function, *next;
	struct strbuf out = { 0 };

	arch_native->syscall_set_result(&regs, input->size);
	HASH_ITER(hh, file->functions, function, next) {
		values.system_call = !values.system_call;
		print_call(function->prototype, &values, &out);
	}
	strbuf_fini(&out);
}

/* The program's variables, and the thread, are somewhere in its memory. */
static int input_object(struct script_thread *thread, size_t index,
			taddr_t *ret)
{
	(void)thread;
	*ret = DATA + index * 8;
	return index % 4 == 3 ? -ENOENT : 0;
}

static int input_pointer(struct script_thread *thread, taddr_t *ret)
{
	(void)thread;
	*ret = DATA;
	return 0;
}

static const struct script_thread_ops thread_ops = {
	input_object,
	input_pointer,
};

static void ask_script(const struct script *script, struct input *input)
{
	struct script_thread thread = { &thread_ops, &input->memory };
	struct script_frames *frames;

	if (!script || script_ask(script, &thread, 16, &frames))
		return;
	if (!frames->count || frames->count > 16)
		__builtin_trap();
	for (size_t i = 0; i < frames->known; i++)
		if (!*frames->list[i].file)
			__builtin_trap();
	script_frames_free(frames);
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
	ask_script(file->script, &input);
	definitions_free(file);
	prototypes_free(prototypes);
	return 0;
}
