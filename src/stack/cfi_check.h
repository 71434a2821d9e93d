/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CFI_CHECK_H
#define CALLTRAP_CFI_CHECK_H

#include <stdbool.h>

#include "stack/cfi.h"
#include "sysdeps/arch.h"

/*
 * Whether records may be shown to libunwind 1.6, which follows some of what
 * they say without a look: only what compilers and assemblers write passes.
 * (DWARF 5, 6.4; LSB core 5.0, 10.6 "Exception Frames".) Sets is_signal_frame.
 */
bool cfi_check(struct cfi_entry *entry, const struct arch_ops *arch);

#endif
