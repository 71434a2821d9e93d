/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the child that reads debug information answers, as if it had been taken
 * over: a function, of which a prototype is made that shows a call whose
 * registers and memory are the same bytes; and places.
 */
#include <string.h>

#include "debuginfo/answers.h"
#include "prototype/from_debuginfo.h"

#define DATA 0x1000u

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

static const struct memory_ops input_ops = { .read = input_read };

static void show(const struct prototype *prototype, struct input *input,
		 const struct arch_ops *arch)
{
	const struct print_limits limits = { 32, 4, NULL };
	uint64_t words[sizeof(struct user_regs_struct) / sizeof(uint64_t)];
	struct regs regs = { 0 };
	struct call_values values = {
		.arch = arch,
		.entry_regs = &regs,
		.result_regs = &regs,
		.memory = &input->memory,
	};
	struct strbuf out = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = DATA + 33 * i;
	memcpy(&regs.user, words, sizeof(regs.user));
	prototype_print_entry(prototype, &values, &limits, &out);
	prototype_print_result(prototype, &values, &limits, &out);
	if (strlen(strbuf_text(&out)) != out.length)
		__builtin_trap();
	strbuf_fini(&out);
}

static void read_function(struct input *input)
{
	struct cursor c = cursor_of(input->bytes, input->size);
	const struct debug_function *function;
	const struct prototype *prototype;
	struct answers answers = { 0 };
	struct pool pool = { 0 };

	if (!answers_read_function(&answers, &c, &function)) {
		prototype = from_debuginfo(&pool, function);
		for (size_t i = 0; arch_ports[i]; i++)
			show(prototype, input, arch_ports[i]);
	}
	pool_fini(&pool);
	answers_fini(&answers);
}

static void read_places(const struct input *input)
{
	struct cursor c = cursor_of(input->bytes, input->size);
	const struct debug_place *places;
	struct answers answers = { 0 };
	struct debug_caller caller;
	unsigned count, i;

	if (!answers_read_places(&answers, &c, &caller, &places, &count))
		for (i = 0; i < count; i++)
			if (places[i].function &&
			    strchr(places[i].function, '\033'))
				__builtin_trap();
	answers_fini(&answers);
}

static void read_tails(const struct input *input)
{
	struct cursor c = cursor_of(input->bytes, input->size);
	struct answers answers = { 0 };
	struct debug_tails tails;

	if (!answers_read_tails(&answers, &c, &tails))
		for (unsigned i = 0; i < tails.count; i++)
			if (tails.list[i].target.kind == DEBUG_TARGET_NAME &&
			    strchr(tails.list[i].target.name, '\033'))
				__builtin_trap();
	answers_fini(&answers);
}

static void read_way(const struct input *input)
{
	struct cursor c = cursor_of(input->bytes, input->size);
	struct debug_step steps[DEBUG_STEPS_MAX];
	struct answers answers = { 0 };
	unsigned count, i;

	if (!answers_read_way(&answers, &c, steps, &count))
		for (i = 0; i < count; i++)
			if (steps[i].path && strchr(steps[i].path, '\033'))
				__builtin_trap();
	answers_fini(&answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = { { &input_ops }, bytes, size };

	read_function(&input);
	read_places(&input);
	read_tails(&input);
	read_way(&input);
	return 0;
}
