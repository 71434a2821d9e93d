/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_64_SLOT_USE_H
#define CALLTRAP_X86_64_SLOT_USE_H

#include "sysdeps/arch.h"

/* As arch_ops.next_slot_use(). */
bool x86_64_next_slot_use(const uint8_t *code, size_t size, size_t *at,
			  size_t end, taddr_t address,
			  const struct slot_range *range, struct slot_use *ret);

#endif
