/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tcmalloc's library says of itself, without its malloc. */
#include <stdint.h>

uint64_t TCMalloc_SystemTaken = 12345678;
