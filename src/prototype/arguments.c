/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/arguments.h"

#include <errno.h>

unsigned arguments_slots(const struct call_values *values,
			 const struct type *type)
{
	unsigned word_size = values->arch->word_size;

	return type_size(type, word_size) > word_size ? 2 : 1;
}

unsigned arguments_slot_of(const struct call_values *values,
			   const struct prototype *prototype, unsigned index)
{
	unsigned slot = 0;

	for (unsigned i = 0; i < index; i++)
		slot += arguments_slots(values, prototype->parameters[i].type);
	return slot;
}

static int read_slot(const struct call_values *values, unsigned slot,
		     uint64_t *ret)
{
	return values->arch->argument(values->entry_regs, values->memory, slot,
				      ret);
}

int arguments_read(const struct call_values *values, const struct type *type,
		   unsigned slot, uint64_t *ret)
{
	uint64_t low, high;
	int err = read_slot(values, slot, &low);

	if (err)
		return err;
	if (arguments_slots(values, type) == 2) {
		err = read_slot(values, slot + 1, &high);
		if (err)
			return err;
		low = (uint32_t)low | high << 32;
	}
	*ret = type_narrow(type, low, values->arch->word_size);
	return 0;
}

int arguments_result(const struct call_values *values,
		     const struct type *type, uint64_t *ret)
{
	if (!values->result_regs)
		return -ENODATA;
	*ret = type_narrow(type, values->arch->result(values->result_regs),
			   values->arch->word_size);
	return 0;
}
