/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NUMBERS_H
#define CALLTRAP_NUMBERS_H

#include "prototype/signature.h"

/*
 * Most calls have nothing but integers, addresses and texts, in registers. These are
 * printed without asking the calling convention for each, or working out types
 * and places: what is printed is the same, in a tenth of the time.
 */

/* False when there is something else; then nothing is printed. */
bool numbers_print_entry(const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits, struct strbuf *out);
bool numbers_print_result(const struct prototype *prototype,
			  const struct call_values *values,
			  const struct print_limits *limits,
			  struct strbuf *out);

bool numbers_write_entry(const struct prototype *prototype,
			 const struct call_values *values,
			 const struct print_limits *limits,
			 struct value_writer *writer);
bool numbers_write_result(const struct prototype *prototype,
			  const struct call_values *values,
			  const struct print_limits *limits,
			  struct value_writer *writer);

/* A result that is an integer or an address, narrowed to its type. */
bool numbers_result(const struct type *type, const struct call_values *values,
		    uint64_t *ret);

#endif
