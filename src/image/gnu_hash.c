/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>

#include "image/private.h"

/*
 * DT_GNU_HASH, where most images tell in one look that they don't have a name:
 *
 *	nbuckets, symoffset, bloom_size, bloom_shift
 *	bloom[bloom_size] (words of the class), buckets[nbuckets], chains[]
 *
 * A bucket holds the index of its first symbol, a chain the hash of each, bit
 * 0 of which says that it is the bucket's last. symoffset is the index of the
 * first symbol that has a chain entry.
 */
#define HEADER_SIZE 16

static uint32_t word_at(const struct gnu_hash *table, uint64_t offset)
{
	struct cursor c = blob_cursor(&table->blob);

	cursor_seek(&c, offset);
	return cursor_u32(&c);
}

static bool is_sane(const struct gnu_hash *table, uint64_t symbol_count)
{
	uint64_t bloom = table->bloom_size;

	return table->buckets && bloom && !(bloom & (bloom - 1)) &&
	       table->shift < 32 && table->first &&
	       table->first <= symbol_count;
}

/* Without one that can be used bucket_count is 0. */
void gnu_hash_init(struct gnu_hash *table, const struct image *image,
		   uint64_t symbol_count)
{
	uint64_t address = image_dynamic_pointer(image, DT_GNU_HASH);
	uint64_t size;

	*table = (struct gnu_hash){ .word_size = image_word_size(image) };
	if (!address)
		return;
	image_blob(image, address, HEADER_SIZE, &table->blob);
	table->buckets = word_at(table, 0);
	table->first = word_at(table, 4);
	table->bloom_size = word_at(table, 8);
	table->shift = word_at(table, 12);
	blob_fini(&table->blob);
	if (!is_sane(table, symbol_count)) {
		table->buckets = 0;
		return;
	}
	table->buckets_at = HEADER_SIZE + table->bloom_size * table->word_size;
	table->chains_at = table->buckets_at + table->buckets * 4;
	size = table->chains_at + (symbol_count - table->first) * 4;
	image_blob(image, address, size, &table->blob);
	if (table->blob.size < size)
		table->buckets = 0;
}

static bool may_have(const struct gnu_hash *table, uint32_t hash)
{
	const unsigned bits = table->word_size * 8;
	uint64_t index = hash / bits & (table->bloom_size - 1);
	struct cursor c = blob_cursor(&table->blob);
	uint64_t word;

	cursor_seek(&c, HEADER_SIZE + index * table->word_size);
	word = cursor_word(&c, table->word_size);
	return word >> hash % bits & word >> (hash >> table->shift) % bits & 1;
}

static uint64_t follow(const struct gnu_hash *table, uint32_t hash,
		       uint64_t index)
{
	for (; index >= table->first; index++) {
		uint64_t at = table->chains_at + (index - table->first) * 4;
		uint32_t chain = word_at(table, at);

		if (at >= table->blob.size)
			break;
		if ((chain | 1) == (hash | 1))
			return index;
		if (chain & 1)
			break;
	}
	return 0;
}

uint64_t gnu_hash_first(const struct gnu_hash *table, uint32_t hash)
{
	if (!may_have(table, hash))
		return 0;
	return follow(table, hash,
		      word_at(table,
			      table->buckets_at + hash % table->buckets * 4));
}

uint64_t gnu_hash_next(const struct gnu_hash *table, uint32_t hash,
		       uint64_t index)
{
	uint64_t at = table->chains_at + (index - table->first) * 4;

	return word_at(table, at) & 1 ? 0 : follow(table, hash, index + 1);
}
