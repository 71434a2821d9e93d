/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The heap of a process that lies to us: words of one without a fault are
 * changed, then all is found out that can be. A change takes eleven bytes: which
 * word (two), what with (one), and eight more of that. One byte that is left over
 * makes it musl's heap.
 */
#include "../unit/fake_mallocng.h"
#include "check_leaks.h"
#include "memory/head.h"
#include "memory/heap_read.h"
#include "memory/heap_shape.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define CHANGE 11

static taddr_t place(unsigned word)
{
	size_t at = (size_t)word * 8 % FAKE_BYTES;
	size_t i = 0;

	while (at >= fake_regions[i].there)
		at -= fake_regions[i++].there;
	return fake_regions[i].start + at;
}

static void change(struct fake_heap *fake, const uint8_t *bytes)
{
	const taddr_t where = place(bytes[0] | bytes[1] << 8);
	uint64_t value;

	memcpy(&value, bytes + 3, sizeof(value));
	switch (bytes[2] % 4) {
	case 1: /* a place that is there */
		value = place(value & 0xffff) + (value >> 16 & 15);
		break;
	case 2: /* the same as pointers of lists are kept */
		value = place(value & 0xffff) ^ where >> 12;
		break;
	case 3: /* a size */
		value &= 0x3fffffff;
		break;
	}
	fake_put(fake, where, value);
}

static void check_parts(const struct glibc *glibc)
{
	for (size_t i = 0; i < glibc->blocks.count; i++)
		if (i && glibc->blocks.list[i].address <=
				 glibc->blocks.list[i - 1].address)
			__builtin_trap();
	/* Each of musl's belongs to one part. */
	for (size_t i = 0, all = 0; glibc->musl && i < glibc->part_count; i++) {
		const struct glibc_part *part = &glibc->parts[i];

		all += part->count;
		if (part->first + part->count != all ||
		    (i && part->start < glibc->parts[i - 1].end) ||
		    (i + 1 == glibc->part_count && all != glibc->blocks.count))
			__builtin_trap();
	}
}

static void look(struct fake_heap *fake, struct leaks *leaks)
{
	struct heads *heads = heads_new(&leaks->mappings, &leaks->picture,
					&fake->picture.memory);
	struct heap_shape shape;

	heap_shape_find(&leaks->glibc, 0, &shape);
	heap_shape_fini(&shape);
	reach_find(&leaks->picture, &leaks->mappings, &leaks->freeze,
		   &leaks->glibc, &(struct reach_options){ .ways = true },
		   &leaks->reach);
	for (size_t i = 0; i < leaks->glibc.blocks.count; i++) {
		const struct block *block = &leaks->glibc.blocks.list[i];

		if (!heads_class(heads, block->address))
			free(heads_text(heads, block->address,
					block_usable(block)));
	}
	check_holders(leaks);
	check_held(leaks);
	reach_result_fini(&leaks->reach);
	heads_free(heads);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fake_heap *fake = xmalloc(sizeof(*fake));
	struct leaks leaks = { .pid = 0 };

	if (size % CHANGE == 1) {
		fake_init_mallocng(fake);
	} else {
		fake_init(fake);
		fake_put_cache(fake, 3);
	}
	for (size_t at = 0; at + CHANGE <= size; at += CHANGE)
		change(fake, bytes + at);
	if (!heap_read(&fake->picture.memory, &fake->mappings, &leaks.glibc)) {
		check_parts(&leaks.glibc);
		leaks.mappings = fake->mappings;
		leaks.picture = fake->picture;
		look(fake, &leaks);
	}
	glibc_fini(&leaks.glibc);
	fake_fini(fake);
	free(fake);
	return 0;
}
