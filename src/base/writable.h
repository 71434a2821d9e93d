/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_WRITABLE_H
#define CALLTRAP_WRITABLE_H

/*
 * Waits up to that many milliseconds for a descriptor that can be written to:
 * 1, or 0 if it can't yet, or a signal came before; a negative errno.
 */
int writable_within(int fd, int ms);

#endif
