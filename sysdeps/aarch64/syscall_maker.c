/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/syscall_maker.h"

/* None is written. */
const struct syscall_maker arch_syscall_maker = { .size = 0 };
