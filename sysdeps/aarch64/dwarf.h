/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AARCH64_DWARF_H
#define CALLTRAP_AARCH64_DWARF_H

#include "sysdeps/arch.h"

extern const struct dwarf_arch aarch64_dwarf;

/* A return address without its signature; any other, as it is. */
taddr_t aarch64_unsigned(taddr_t address);

#endif
