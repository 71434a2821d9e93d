/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_X86_64_DWARF_H
#define CALLTRAP_X86_64_DWARF_H

#include "sysdeps/arch.h"

extern const struct dwarf_arch x86_64_dwarf;

#endif
