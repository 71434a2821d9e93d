/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>

#include "image/private.h"

#define VERSION_HIDDEN 0x8000
#define VERSION_INDEX 0x7fff

/* Symbols are counted in words of 32 bits in every table. */
static uint64_t word_at(struct table *table, uint64_t index)
{
	struct cursor c;

	return table_get(table, index, &c) ? cursor_u32(&c) : 0;
}

/* DT_HASH has a chain entry for every symbol: nbucket, nchain, ... */
static uint64_t count_by_hash(const struct image *image)
{
	uint64_t address = image_dynamic_pointer(image, DT_HASH);
	struct table words;

	if (!address)
		return 0;
	image_table(image, address, 8, 4, &words);
	return word_at(&words, 1);
}

/*
 * DT_GNU_HASH doesn't say how many symbols there are: they are sorted by
 * bucket, so the last one is at the end of the chain of the highest bucket,
 * where bit 0 is set.
 *
 *	nbuckets, symoffset, bloom_size, bloom_shift
 *	bloom[bloom_size] (words of the class), buckets[nbuckets], chains[]
 */
static uint64_t count_by_gnu_hash(const struct image *image, uint64_t limit)
{
	uint64_t address = image_dynamic_pointer(image, DT_GNU_HASH);
	uint64_t buckets, first, last = 0, i;
	struct table words;

	if (!address)
		return 0;
	image_table(image, address, 16, 4, &words);
	buckets = word_at(&words, 0);
	first = word_at(&words, 1);
	address += 16 + word_at(&words, 2) * image_word_size(image);
	image_table(image, address, buckets * 4, 4, &words);
	for (i = 0; i < words.count; i++) {
		uint64_t bucket = word_at(&words, i);

		if (bucket > last)
			last = bucket;
	}
	if (last < first)
		return first;
	image_table(image, address + buckets * 4, UINT64_MAX, 4, &words);
	while (last < limit && last - first < words.count &&
	       !(word_at(&words, last - first) & 1))
		last++;
	return last + 1;
}

/* Without a hash table: linkers put the strings behind the symbols. */
static uint64_t count_by_strings(const struct image *image)
{
	uint64_t symbols = image_dynamic_pointer(image, DT_SYMTAB);
	uint64_t strings = image_dynamic_pointer(image, DT_STRTAB);

	if (strings < symbols)
		return 0;
	return (strings - symbols) / elf_symbol_size(image_word_size(image));
}

/* What ld.so may find: it uses the one table or the other. */
static uint64_t count_symbols(const struct image *image, uint64_t limit)
{
	uint64_t hash = count_by_hash(image);
	uint64_t gnu_hash = count_by_gnu_hash(image, limit);
	uint64_t count = hash > gnu_hash ? hash : gnu_hash;

	if (!count)
		count = count_by_strings(image);
	return count < limit ? count : limit;
}

void dynsym_init(struct dynsym *dynsym, const struct image *image)
{
	uint64_t symbols = image_dynamic_pointer(image, DT_SYMTAB);
	uint64_t versions = image_dynamic_pointer(image, DT_VERSYM);

	if (!symbols)
		return;
	image_table(image, symbols, UINT64_MAX,
		    elf_symbol_size(image_word_size(image)), &dynsym->symbols);
	dynsym->count = count_symbols(image, dynsym->symbols.count);
	image_blob(image, image_dynamic_pointer(image, DT_STRTAB),
		   image_dynamic_value(image, DT_STRSZ), &dynsym->strings);
	if (!versions)
		return;
	image_table(image, versions, UINT64_MAX, 2, &dynsym->versions);
	dynsym_read_versions(dynsym, image);
}

void dynsym_fini(struct dynsym *dynsym)
{
	blob_fini(&dynsym->strings);
	free(dynsym->names);
}

bool dynsym_get(struct dynsym *dynsym, unsigned word_size, uint64_t index,
		struct elf_symbol *ret, const char **name_ret)
{
	struct cursor c;
	const char *name;

	if (!index || !table_get(&dynsym->symbols, index, &c))
		return false;
	*ret = elf_symbol(&c, word_size);
	name = blob_string(&dynsym->strings, ret->name);
	if (!name || !*name)
		return false;
	*name_ret = name;
	return true;
}

const struct version *dynsym_version(struct dynsym *dynsym, uint64_t index,
				     bool *hidden_ret)
{
	struct cursor c;
	unsigned version;

	*hidden_ret = false;
	if (!table_get(&dynsym->versions, index, &c))
		return NULL;
	version = cursor_u16(&c);
	*hidden_ret = version & VERSION_HIDDEN;
	version &= VERSION_INDEX;
	if (version >= dynsym->name_count || !dynsym->names[version].name)
		return NULL;
	return &dynsym->names[version];
}
