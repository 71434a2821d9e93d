/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_CALL_H
#define CALLTRAP_X86_CALL_H

#include <stdbool.h>

#include "base/types.h"

/* dwarf_arch's ends_in_call, of both architectures. */
bool x86_ends_in_call(const uint8_t *code, size_t size);

#endif
