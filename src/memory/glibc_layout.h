/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GLIBC_LAYOUT_H
#define CALLTRAP_GLIBC_LAYOUT_H

/*
 * Where glibc's malloc (malloc/malloc.c, malloc/arena.c; 64-bit) keeps what we
 * read. The same from 2.26 to 2.41, but for two heads and a few
 * integers: which it is, the memory itself tells.
 */

/* struct malloc_state: an arena */
#define ARENA_FLAGS      4
#define ARENA_FAST       16 /* lists of chunks by size */
#define ARENA_FAST_COUNT 10
#define ARENA_TOP        96
#define ARENA_BINS       112 /* pairs of pointers: rings through the arena */
#define ARENA_BIN_COUNT  127
#define ARENA_NEXT       2160 /* ring of all arenas */
#define ARENA_SYSTEM     2184 /* bytes from the kernel, now; and the most */
#define ARENA_SIZE       2200

/* A bin's ring goes through a chunk that begins so far before it. */
#define BIN_BACK 16

/* struct malloc_par, counted from sbrk_base */
#define PAR_MAP_COUNTS (-40) /* ints: see par_map_count() */
#define PAR_MAP_BYTES  (-16)
#define PAR_MAP_MOST   (-8)
#define PAR_CACHE_BINS 8
#define PAR_CACHE_MAX  16

/* heap_info: the beginning of each part of an arena other than the first */
#define HEAP_ARENA    0
#define HEAP_PREVIOUS 8
#define HEAP_SIZE     16
#define HEAP_ALIGN    (UINT64_C(64) << 20)
#define HEAP_HEAD_OLD 32 /* up to 2.34 */
#define HEAP_HEAD     48 /* since 2.35: the size of its pages */

/* struct malloc_chunk */
#define CHUNK_SIZE        8
#define CHUNK_PREV_IN_USE 1
#define CHUNK_MAPPED      2
#define CHUNK_OTHER_ARENA 4
#define CHUNK_FLAGS       7
#define CHUNK_LEAST       32
#define CHUNK_FENCE       16

/* tcache_perthread_struct, in a block of its own: 64 counts, 64 lists */
#define CACHE_BINS  64
#define CACHE_LISTS 128
#define CACHE_SIZE  640

#endif
