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

/* That of what an entry has in common with others, for who interprets the rest himself
   and refuses what would be refused here. */
struct cfi_checked {
	bool has_data;       /* records have augmentation data, too */
	unsigned remembered; /* states, in the common instructions */
};

bool cfi_check_common(struct cfi_entry *entry, const struct arch_ops *arch,
		      struct cfi_checked *ret);
bool cfi_is_apart(const struct cfi_entry *entry);

/*
 * So many states may a record remember, with what is common: libunwind keeps them on the
 * stack, about 2 KiB each, however often that comes.
 */
#define CFI_REMEMBERED_MAX 512

#endif
