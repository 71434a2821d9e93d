/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MALLOCNG_LAYOUT_H
#define CALLTRAP_MALLOCNG_LAYOUT_H

/*
 * Where musl's malloc since 1.2.1 (src/malloc/mallocng/meta.h; 64-bit) keeps
 * what we read. Requests are served from slots of one size, up to 32 in a
 * group; what is known of a group lies apart from it, in metas; these lie in
 * areas of a page, which repeat a secret.
 */

/* struct malloc_context. Where the size of pages is no constant, that comes
   second, and all else a word later. */
#define CONTEXT_SECRET 0
#define CONTEXT_PAGE   8
#define CONTEXT_READY  8 /* an int: 1 */
#define CONTEXT_FIRST  56
#define CONTEXT_LAST   64
#define CONTEXT_SIZE   928

/* struct meta_area */
#define AREA_SECRET 0
#define AREA_NEXT   8
#define AREA_COUNT  16 /* an int */
#define AREA_METAS  24
#define AREA_SIZE   4096

/* struct meta */
#define META_PREVIOUS    0 /* a ring of groups that have free slots, or 0 */
#define META_NEXT        8
#define META_GROUP       16 /* 0: it is of none */
#define META_FREE        24 /* two ints, a bit for each slot */
#define META_FREED       28
#define META_WORD        32
#define META_SIZE        40
#define META_SLOTS(word) (((word)&31) + 1)
#define META_CLASS(word) ((word) >> 6 & 63)
#define META_PAGES(word) ((word) >> 12) /* of its mapping, or 0 */

/* The class of a group that is one block with a mapping of its own. */
#define CLASS_MAPPED 63
#define CLASS_COUNT  48

/* struct group: its meta, and then slots. */
#define GROUP_HEAD 16

/*
 * Before a block, in the last bytes of the slot before: where it lies in its
 * group, in units of 16 bytes; which slot that is, and how many bytes at the end
 * of the slot weren't asked for. What begins later in its slot is told where
 * the slot begins.
 */
#define SLOT_FAR_OFFSET 8 /* so far before the block: an int, when … */
#define SLOT_IS_FAR     4 /* … this byte isn't 0 */
#define SLOT_INDEX      3
#define SLOT_OFFSET     2 /* a short */
#define SLOT_TAIL       4 /* of each slot, which are the next one's */
#define INDEX_MASK      31
#define INDEX_SPARE(b)  ((b) >> 5)
#define INDEX_GIVEN     255 /* it was given back */
#define INDEX_LATER     224 /* the block begins later in the slot */
#define SPARE_TOLD      5   /* an int at the slot's end says how many */
#define SPARE_GROUP     6   /* it holds a group of smaller slots */

#endif
