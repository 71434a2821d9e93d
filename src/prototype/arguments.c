/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/arguments.h"

#include <errno.h>

#include "prototype/flatten.h"

static const struct convention *convention_of(const struct call_values *values)
{
	return values->system_call ? values->arch->syscall_convention :
				     values->arch->convention;
}

void arguments_init_result(struct arguments *arguments,
			   const struct prototype *prototype,
			   const struct call_values *values)
{
	arguments->prototype = prototype;
	arguments->values = values;
	arguments->known = 0;
}

void arguments_init(struct arguments *arguments,
		    const struct prototype *prototype,
		    const struct call_values *values)
{
	const struct type *type;
	struct flattened result;

	arguments_init_result(arguments, prototype, values);
	type = arguments_result_type(arguments);
	flatten(type, values->arch->word_size, &result);
	convention_of(values)->begin(values->entry_regs,
				     type->kind == TYPE_VOID ? NULL :
							       &result.value,
				     &arguments->cursor);
}

unsigned arguments_count(const struct arguments *arguments)
{
	return arguments->prototype ? arguments->prototype->count :
				      UNKNOWN_ARGUMENTS;
}

const struct type *arguments_type(const struct arguments *arguments,
				  unsigned index)
{
	return arguments->prototype ?
		       arguments->prototype->parameters[index].type :
		       &type_guess;
}

static int place_of(const struct arguments *arguments,
		    struct found_value *found, struct place *ret)
{
	if (found->err)
		return found->err;
	if (found->passed.in_memory) {
		*ret = place_in(arguments->values->memory,
				found->passed.address);
	} else {
		found->bytes = bytes_memory_of(found->passed.bytes,
					       sizeof(found->passed.bytes));
		*ret = place_in(&found->bytes.memory, 0);
	}
	return 0;
}

static void find_next(struct arguments *arguments, const struct type *type,
		      bool variadic, struct found_value *found)
{
	const struct call_values *values = arguments->values;
	struct flattened flat;

	flatten(type, values->arch->word_size, &flat);
	found->err = convention_of(values)->argument(
		&arguments->cursor, values->entry_regs, values->entry_fp,
		values->memory, &flat.value, variadic, &found->passed);
}

static void find_until(struct arguments *arguments, unsigned end)
{
	for (; arguments->known < end; arguments->known++)
		find_next(arguments,
			  arguments_type(arguments, arguments->known), false,
			  &arguments->list[arguments->known]);
}

int arguments_place(struct arguments *arguments, unsigned index,
		    struct place *ret)
{
	if (index >= arguments_count(arguments))
		return -ENODATA;
	find_until(arguments, index + 1);
	return place_of(arguments, &arguments->list[index], ret);
}

int arguments_further(struct arguments *arguments, const struct type *type,
		      struct found_value *found, struct place *ret)
{
	find_until(arguments, arguments_count(arguments));
	find_next(arguments, type, true, found);
	return place_of(arguments, found, ret);
}

const struct type *arguments_result_type(const struct arguments *arguments)
{
	return arguments->prototype ? arguments->prototype->result :
				      &type_guess;
}

int arguments_result(const struct arguments *arguments,
		     struct found_value *found, struct place *ret)
{
	const struct call_values *values = arguments->values;
	const struct type *type = arguments_result_type(arguments);
	struct flattened flat;

	if (!values->result_regs || type->kind == TYPE_VOID)
		return -ENODATA;
	flatten(type, values->arch->word_size, &flat);
	found->err = convention_of(values)->result(values->entry_regs,
						   values->result_regs,
						   values->result_fp,
						   values->memory, &flat.value,
						   &found->passed);
	return place_of(arguments, found, ret);
}

size_t arguments_stacked(struct arguments *arguments)
{
	const struct call_values *values = arguments->values;
	taddr_t start = values->arch->return_slot(values->entry_regs) +
			values->arch->word_size;

	find_until(arguments, arguments_count(arguments));
	return arguments->cursor.stack > start ?
		       arguments->cursor.stack - start :
		       0;
}

/* Every convention has registers for so many, but that of i386 for none. */
#define IN_REGISTERS 6

bool arguments_may_be_stacked(const struct prototype *prototype,
			      const struct arch_ops *arch)
{
	unsigned i;

	if (!prototype || arch->word_size < 8 ||
	    prototype->count > IN_REGISTERS)
		return prototype && prototype->count;
	for (i = 0; i < prototype->count; i++) {
		const struct type *type = prototype->parameters[i].type;

		if (type->kind != TYPE_POINTER &&
		    (type->kind != TYPE_INTEGER || type->size > 8))
			return true;
	}
	return false;
}
