/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DESCRIPTORS_H
#define CALLTRAP_DESCRIPTORS_H

#include <stdbool.h>

/*
 * Descriptors that are kept for long never take the last ones: without any
 * nothing can be asked of the kernel any more, and children couldn't be cleaned
 * of the traps that they inherit.
 */
#define DESCRIPTORS_RESERVED 16

/* With fewer nothing is begun. */
#define DESCRIPTORS_MIN (2 * DESCRIPTORS_RESERVED)

/*
 * For one that is to be kept for long, just opened: true when it is one of the
 * last (RLIMIT_NOFILE). The kernel gives the lowest number that is free.
 */
bool descriptor_is_scarce(int fd);

/*
 * One that takes what is written, or leads nowhere: /dev/null, and where there is
 * none, one that can be neither read nor written. A negative errno.
 */
int descriptor_of_nothing(void);

#endif
