/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HASH_H
#define CALLTRAP_HASH_H

/* uthash, told to die as everything here does when memory runs out. */

#include <string.h>

#include "base/xalloc.h"

#define uthash_malloc(size)   xmalloc(size)
#define uthash_fatal(message) fatal("%s", message)

/*
 * Most keys are one number or two, and are looked up several times a call:
 * uthash's own function goes byte by byte.
 */
static inline unsigned hash_key(const void *key, size_t size)
{
	const char *p = key;
	uint64_t hash = size, word;

	while (size) {
		const size_t part = size < sizeof(word) ? size : sizeof(word);

		word = 0;
		memcpy(&word, p, part);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
		p += part;
		size -= part;
	}
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return (unsigned)(hash >> 32);
}

#define HASH_FUNCTION(key, size, hash) ((hash) = hash_key(key, size))

#include <uthash.h>

#endif
