/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROTOTYPE_FIXTURE_H
#define CALLTRAP_PROTOTYPE_FIXTURE_H

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "prototype/prototype.h"

/* A process whose memory is one buffer and whose arguments are a list. */

#define DATA      0x10000u
#define ARGUMENTS 40

static uint64_t arguments[ARGUMENTS];
static uint64_t result[2];
static unsigned word_size;
static int error;
static bool system_call;

struct data {
	struct memory memory;
	char bytes[8192];
	size_t used;
};

static inline size_t data_read(struct memory *memory, taddr_t address,
			       void *ret, size_t size)
{
	struct data *data = (struct data *)memory;
	size_t room;

	if (address < DATA || address >= DATA + sizeof(data->bytes))
		return 0;
	room = DATA + sizeof(data->bytes) - address;
	if (size > room)
		size = room;
	memcpy(ret, data->bytes + (address - DATA), size);
	return size;
}

static const struct memory_ops data_ops = { .read = data_read };
static struct data data = { .memory = { &data_ops } };

static inline taddr_t put(const void *bytes, size_t n)
{
	taddr_t address = DATA + data.used;

	ck_assert(data.used + n <= sizeof(data.bytes));
	memcpy(data.bytes + data.used, bytes, n);
	data.used += n;
	return address;
}

static inline taddr_t put_text(const char *text)
{
	return put(text, strlen(text) + 1);
}

/*
 * A calling convention: every argument takes as many words of the list as it
 * needs, or one with its address if it has more than 16 bytes.
 */

static inline void fake_begin(const struct regs *regs,
			      const struct flat_value *flat,
			      struct argument_cursor *ret)
{
	(void)regs;
	(void)flat;
	*ret = (struct argument_cursor){ 0 };
}

static inline int fake_argument(struct argument_cursor *cursor,
				const struct regs *regs,
				const struct fp_regs *fp, struct memory *memory,
				const struct flat_value *value, bool variadic,
				struct passed *ret)
{
	bool by_address = value->size > 16;
	uint64_t size = by_address ? word_size : value->size;

	(void)regs;
	(void)fp;
	(void)memory;
	(void)variadic;
	*ret = (struct passed){ 0 };
	for (uint64_t at = 0; at < size; at += word_size) {
		if (cursor->integers >= ARGUMENTS)
			return -EFAULT;
		memcpy(ret->bytes + at, &arguments[cursor->integers++],
		       word_size);
	}
	if (by_address) {
		ret->in_memory = true;
		memcpy(&ret->address, ret->bytes, word_size);
	}
	return 0;
}

static inline int fake_result(const struct regs *entry, const struct regs *regs,
			      const struct fp_regs *fp, struct memory *memory,
			      const struct flat_value *value,
			      struct passed *ret)
{
	(void)entry;
	(void)regs;
	(void)fp;
	(void)memory;
	*ret = (struct passed){ .in_memory = value->size > sizeof(result) };
	ret->address = result[0];
	memcpy(ret->bytes, result, sizeof(result));
	return 0;
}

static inline bool fake_needs_fp(const struct flat_value *value, bool as_result)
{
	for (unsigned i = 0; i < value->count; i++)
		if (value->scalars[i].kind == SCALAR_FLOAT ||
		    (as_result && value->scalars[i].kind == SCALAR_X87))
			return true;
	return false;
}

static inline bool fake_variadic_needs_fp(const struct regs *regs)
{
	return arch_native->result(regs);
}

static const struct convention fake_convention = {
	.begin = fake_begin,
	.argument = fake_argument,
	.result = fake_result,
	.needs_fp = fake_needs_fp,
	.variadic_needs_fp = fake_variadic_needs_fp,
};

static inline int fake_word(const struct regs *entry, struct memory *memory,
			    unsigned index, uint64_t *ret)
{
	(void)entry;
	(void)memory;
	if (index >= ARGUMENTS)
		return -EFAULT;
	*ret = arguments[index];
	return 0;
}

static inline uint64_t fake_word_result(const struct regs *regs)
{
	(void)regs;
	return result[0];
}

static const struct arch_ops machine64 = {
	.word_size = 8,
	.argument = fake_word,
	.result = fake_word_result,
	.convention = &fake_convention,
	.syscall_convention = &fake_convention,
};
static const struct arch_ops machine32 = {
	.word_size = 4,
	.convention = &fake_convention,
	.syscall_convention = &fake_convention,
};

/* What was said. */

static char said[8192];
static unsigned warnings;

static inline void hear(enum diag_level level, enum diag_domain domain,
			const char *message)
{
	size_t length = strlen(said);

	ck_assert_int_eq(domain, DIAG_PROTOTYPE);
	if (level == DIAG_WARNING)
		warnings++;
	snprintf(said + length, sizeof(said) - length, "%s\n", message);
}

/* Prototype files. */

static char directory[] = "/tmp/test_prototype.XXXXXX";
static struct prototypes *all;

static inline char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

static inline void write_bytes(const char *name, const char *text, size_t size)
{
	char *path = path_of(name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fwrite(text, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	free(path);
}

static inline void write_file(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
}

static inline void setup(void)
{
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	all = prototypes_new();
	data.used = 0;
	memset(data.bytes, 0, sizeof(data.bytes));
	memset(arguments, 0, sizeof(arguments));
	memset(result, 0, sizeof(result));
	error = 0;
	system_call = false;
	said[0] = '\0';
	warnings = 0;
	diag_set_receiver(hear);
	diag_set_debug(0);
}

static inline void teardown(void)
{
	char *command = xasprintf("rm -r %s", directory);

	prototypes_free(all);
	diag_set_receiver(NULL);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static inline int add(const char *name)
{
	char *path = path_of(name);
	int err = prototypes_add(all, path);

	free(path);
	return err;
}

static inline void add_text(const char *text)
{
	write_file("test.conf", text);
	ck_assert_int_eq(add("test.conf"), 0);
}

/* Printing. */

static struct print_limits limits = { .string_bytes = 32, .array_elements = 4 };

enum part { ENTRY, LATER, RESULT };

static inline struct call_values values_on(const struct arch_ops *arch,
					   enum part part)
{
	static struct regs regs;

	word_size = arch->word_size;
	return (struct call_values){
		.arch = arch,
		.entry_regs = &regs,
		.result_regs = part == ENTRY ? NULL : &regs,
		.system_call = system_call,
		.error = error,
		.memory = &data.memory,
	};
}

static inline const char *print_on(const struct arch_ops *arch,
				   const char *function, enum part part)
{
	static struct strbuf out;
	struct call_values values = values_on(arch, part);
	const struct prototype *prototype = NULL;

	if (function) {
		prototype = prototypes_find(all, NULL, function);
		ck_assert_msg(prototype != NULL, "no %s: %s", function, said);
	}
	strbuf_clear(&out);
	if (part == ENTRY)
		prototype_print_entry(prototype, &values, &limits, &out);
	else if (part == LATER)
		prototype_print_later(prototype, &values, &limits, &out);
	else
		prototype_print_result(prototype, &values, &limits, &out);
	return strbuf_text(&out);
}

static inline const char *print(const char *function, enum part part)
{
	return print_on(&machine64, function, part);
}

/* The one argument of a function with this parameter type. */
static inline const char *shown(const char *type, uint64_t value)
{
	char *text = xasprintf("void f(%s);\n", type);
	const char *printed;

	prototypes_free(all);
	all = prototypes_new();
	add_text(text);
	free(text);
	arguments[0] = value;
	printed = print("f", ENTRY);
	ck_assert_str_eq(said, "");
	return printed;
}

static inline const char *shown_text(const char *text)
{
	return shown("string", put_text(text));
}

#endif
