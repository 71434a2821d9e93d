/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SERVE_LIBRARY_H
#define CALLTRAP_SERVE_LIBRARY_H

/*
 * Libraries that are loaded when they are wanted: most runs of calltrap would
 * only load them, and all that these need. calltrap-static never does
 * (library_none.c): they would bring another C library along.
 */

/* The handle of a loaded library; NULL: there is none. */
void *library_load(const char *name);

/* NULL: it has no such function. */
void *library_symbol(void *library, const char *name);

#endif
