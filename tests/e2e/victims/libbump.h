/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBBUMP_H
#define LIBBUMP_H

extern void (*bump_hook)(const char *function);

#endif
