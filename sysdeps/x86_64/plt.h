/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_64_PLT_H
#define CALLTRAP_X86_64_PLT_H

#include "sysdeps/arch.h"

bool x86_64_plt_stub(const uint8_t *code, size_t size, size_t at,
		     taddr_t address, taddr_t got, struct plt_stub *ret);

bool x86_64_slot_jump(const uint8_t *code, size_t size, size_t at,
		      taddr_t address, taddr_t got, taddr_t *slot_ret);
bool x86_64_slot_called(struct memory *memory, taddr_t return_address,
			taddr_t got, taddr_t *slot_ret);

#endif
