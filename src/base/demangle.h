/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEMANGLE_H
#define CALLTRAP_DEMANGLE_H

#include <stdbool.h>

#include "base/types.h"

/* What a demangled name may come to; mangled ones can ask for gigabytes. */
#define DEMANGLE_MAX 16384

/* A zeroed one is ready. */
struct demangler {
	unsigned given_up; /* names that took too long */
};

/*
 * The C++ or Rust name, with its parameters, that a symbol stands for, as
 * people write it (base/cxx_name.h): to be freed. NULL when it is none, would
 * be longer than DEMANGLE_MAX, or took too long to find out; after some of the
 * latter kind, only those are looked at that cannot take long.
 */
char *demangle(struct demangler *demangler, const char *symbol) MUST_CHECK;

/* The same, whole; without parameters and result: "std::swap<int>". */
char *demangle_exactly(struct demangler *demangler, const char *symbol,
		       bool parameters) MUST_CHECK;

#endif
