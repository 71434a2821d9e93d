/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ARGUMENTS_H
#define CALLTRAP_ARGUMENTS_H

#include "prototype/signature.h"

/*
 * Where the arguments of a call lie. A slot is what the architecture calls
 * an integer argument: a 64-bit value fills two of them on 32-bit machines.
 */

/* How many slots a value of this type fills. */
unsigned arguments_slots(const struct call_values *values,
			 const struct type *type);

/* The slot of the index-th parameter (from 0). */
unsigned arguments_slot_of(const struct call_values *values,
			   const struct prototype *prototype, unsigned index);

/* The value in a slot, narrowed to its type. */
int arguments_read(const struct call_values *values, const struct type *type,
		   unsigned slot, uint64_t *ret) MUST_CHECK;

/* The result, narrowed; -ENODATA before the return. */
int arguments_result(const struct call_values *values,
		     const struct type *type, uint64_t *ret) MUST_CHECK;

#endif
