/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HASH_H
#define CALLTRAP_HASH_H

/* uthash, told to die as everything here does when memory runs out. */

#include "base/xalloc.h"

#define uthash_malloc(size)   xmalloc(size)
#define uthash_fatal(message) fatal("%s", message)

#include <uthash.h>

#endif
