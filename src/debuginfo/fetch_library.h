/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FETCH_LIBRARY_H
#define CALLTRAP_FETCH_LIBRARY_H

#include <stdbool.h>

/*
 * libdebuginfod, which is loaded when it is wanted. calltrap-static never loads
 * it (fetch_library_none.c): it would bring another C library along.
 */
bool fetch_library_load(void);

/* A function of the library that was loaded; NULL: it has none of that name. */
void *fetch_library_symbol(const char *name);

#endif
