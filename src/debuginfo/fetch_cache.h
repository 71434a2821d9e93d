/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_FETCH_CACHE_H
#define CALLTRAP_DEBUGINFO_FETCH_CACHE_H

#include "image/image.h"

/* Of what libdebuginfod keeps; files go by their build-ids in digits. */
#define FETCH_HEX_SIZE (2 * BUILD_ID_MAX + 1)

void fetch_write_hex(char ret[FETCH_HEX_SIZE], const uint8_t *id, size_t size);

/* A descriptor, or -1. */
int fetch_cache_open(const char *hex);

/*
 * Somebody didn't wait for it: that must not be remembered for ten minutes as
 * if the servers hadn't it.
 */
void fetch_cache_forget(const char *hex);

/*
 * Removes what this process has open of files that are not whole yet: it is
 * about to end. May be called by a signal's handler.
 */
void fetch_cache_drop_unfinished(void);

#endif
