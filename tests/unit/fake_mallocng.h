/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAKE_MALLOCNG_H
#define CALLTRAP_FAKE_MALLOCNG_H

#include "fake_heap.h"
#include "memory/mallocng_layout.h"

/*
 * The same process with musl's malloc: a group of slots, another one in whose
 * first slot there is a third, and a block with a mapping of its own.
 */
#define NG_SECRET  UINT64_C(0x1234567890abcdef)
#define NG_CONTEXT FAKE_MAIN
#define NG_AREA    FAKE_HEAP
#define NG_GROUP   FAKE_THREAD /* 32 slots of 64 bytes, of which … */
#define NG_USED    24          /* … so many are taken */
#define NG_SPARE   7
#define NG_OUTER   (FAKE_THREAD + 0x1000) /* 4 slots of 240 bytes */
#define NG_INNER   (NG_OUTER + 16)        /* 7 of 32 bytes in the first */
#define NG_MAP     FAKE_MAP

enum ng_meta { NG_META_GROUP, NG_META_MAP, NG_META_OUTER, NG_META_INNER };

static inline taddr_t ng_meta(enum ng_meta meta)
{
	return NG_AREA + AREA_METAS + meta * META_SIZE;
}

static inline taddr_t ng_slot(taddr_t group, uint64_t stride, unsigned slot)
{
	return group + GROUP_HEAD + slot * stride;
}

static inline taddr_t ng_block(unsigned slot)
{
	return ng_slot(NG_GROUP, 64, slot);
}

static inline void fake_put_meta(struct fake_heap *fake, enum ng_meta meta,
				 taddr_t group, uint64_t word, uint64_t freed)
{
	fake_put(fake, ng_meta(meta) + META_GROUP, group);
	fake_put(fake, ng_meta(meta) + META_FREE, freed << 32);
	fake_put(fake, ng_meta(meta) + META_WORD, word);
	fake_put(fake, group, ng_meta(meta));
}

static inline void fake_put_head(struct fake_heap *fake, taddr_t block,
				 uint64_t index, uint64_t offset)
{
	fake_put(fake, block - 8, index << 40 | offset / BLOCK_UNIT << 48);
}

/* In the bytes before the next slot's head. */
static inline void fake_put_spare(struct fake_heap *fake, taddr_t slot_end,
				  uint32_t bytes)
{
	uint8_t *where = fake_at(fake, slot_end - 8);

	if (where)
		memcpy(where, &bytes, sizeof(bytes));
}

static inline void fake_put_context(struct fake_heap *fake)
{
	fake_put(fake, NG_CONTEXT + CONTEXT_SECRET, NG_SECRET);
	fake_put(fake, NG_CONTEXT + CONTEXT_READY, 1);
	fake_put(fake, NG_CONTEXT + CONTEXT_FIRST, NG_AREA);
	fake_put(fake, NG_CONTEXT + CONTEXT_LAST, NG_AREA);
	fake_put(fake, NG_AREA + AREA_SECRET, NG_SECRET);
	fake_put(fake, NG_AREA + AREA_COUNT, 101);
}

static inline void fake_put_groups(struct fake_heap *fake)
{
	fake_put_meta(fake, NG_META_GROUP, NG_GROUP, 31 | 3 << 6 | 1 << 12,
		      UINT32_MAX << NG_USED & UINT32_MAX);
	for (unsigned i = 0; i < NG_USED; i++)
		fake_put_head(fake, ng_block(i), i | SPARE_TOLD << 5, i * 64);
	for (unsigned i = 0; i < NG_USED; i++)
		fake_put_spare(fake, ng_block(i + 1), NG_SPARE);
	fake_put_meta(fake, NG_META_MAP, NG_MAP, CLASS_MAPPED << 6 | 3 << 12,
		      0);
	/* It begins two units later. */
	fake_put_head(fake, NG_MAP + 16, INDEX_LATER, 32);
	fake_put_head(fake, NG_MAP + 48, 0, 32);
	fake_put_meta(fake, NG_META_OUTER, NG_OUTER, 3 | 11 << 6 | 1 << 12,
		      0xe);
	fake_put_head(fake, NG_OUTER + 16, SPARE_GROUP << 5, 0);
	fake_put_meta(fake, NG_META_INNER, NG_INNER, 6 | 1 << 6, 0x7c);
	for (unsigned i = 0; i < 2; i++)
		fake_put_head(fake, ng_slot(NG_INNER, 32, i), i, i * 32);
}

/* Each block points at the one before it; the last is in FAKE_ROOTS. */
static inline void fake_init_mallocng(struct fake_heap *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake_map(fake);
	fake_put_context(fake);
	fake_put_groups(fake);
	for (unsigned i = 1; i < NG_USED; i++)
		fake_put(fake, ng_block(i) + 8, ng_block(i - 1));
	fake_put(fake, FAKE_ROOTS, ng_block(NG_USED - 1));
	fake_put(fake, FAKE_ROOTS + 8, NG_MAP + 48);
	fake_put(fake, FAKE_ROOTS + 16, ng_slot(NG_INNER, 32, 0));
}

#endif
