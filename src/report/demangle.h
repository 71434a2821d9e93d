/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEMANGLE_H
#define CALLTRAP_DEMANGLE_H

#include "base/types.h"

/* What a demangled name may come to; mangled ones can ask for gigabytes. */
#define DEMANGLE_MAX 16384

/*
 * The C++ or Rust name, with its parameters, that a symbol stands for: to be
 * freed. NULL when it is none, or would be longer than DEMANGLE_MAX.
 */
char *demangle(const char *symbol) MUST_CHECK;

#endif
