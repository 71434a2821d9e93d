/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_I386_DWARF_H
#define CALLTRAP_I386_DWARF_H

#include "sysdeps/arch.h"

extern const struct dwarf_arch i386_dwarf;

#endif
