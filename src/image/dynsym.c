/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>

#include "image/private.h"

#define VERSION_HIDDEN 0x8000
#define VERSION_INDEX  0x7fff

/* DT_HASH has a chain entry for every symbol: nbucket, nchain, ... */
static uint64_t count_by_hash(const struct image *image)
{
	uint64_t address = image_dynamic_pointer(image, DT_HASH);
	CLEANUP(table_fini) struct table words = { 0 };

	if (!address)
		return 0;
	image_table(image, address, 8, ELF_T_WORD, &words);
	return table_word(&words, 1);
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
	CLEANUP(table_fini) struct table words = { 0 };
	uint64_t buckets, chains, first, last = 0, i;

	if (!address)
		return 0;
	image_table(image, address, UINT64_MAX, ELF_T_WORD, &words);
	buckets = 4 +
		  (uint64_t)table_word(&words, 2) * image_word_size(image) / 4;
	chains = buckets + table_word(&words, 0);
	first = table_word(&words, 1);
	for (i = buckets; i < chains && i < words.count; i++)
		if (table_word(&words, i) > last)
			last = table_word(&words, i);
	if (last < first)
		return first;
	while (last < limit && chains + last - first < words.count &&
	       !(table_word(&words, chains + last - first) & 1))
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
	return (strings - symbols) /
	       gelf_fsize(image->source.elf, ELF_T_SYM, 1, EV_CURRENT);
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
	image_table(image, symbols, UINT64_MAX, ELF_T_SYM, &dynsym->symbols);
	dynsym->count = count_symbols(image, dynsym->symbols.count);
	image_blob(image, image_dynamic_pointer(image, DT_STRTAB),
		   image_dynamic_value(image, DT_STRSZ), &dynsym->strings);
	if (!versions)
		return;
	image_table(image, versions, UINT64_MAX, ELF_T_HALF, &dynsym->versions);
	dynsym_read_versions(dynsym, image);
}

void dynsym_fini(struct dynsym *dynsym)
{
	table_fini(&dynsym->symbols);
	table_fini(&dynsym->versions);
	blob_fini(&dynsym->strings);
	free(dynsym->names);
}

bool dynsym_get(struct dynsym *dynsym, uint64_t index, GElf_Sym *ret,
		const char **name_ret)
{
	const char *name;

	if (!index || !table_symbol(&dynsym->symbols, index, ret))
		return false;
	name = blob_string(&dynsym->strings, ret->st_name);
	if (!name || !*name)
		return false;
	*name_ret = name;
	return true;
}

const struct version *dynsym_version(struct dynsym *dynsym, uint64_t index,
				     bool *hidden_ret)
{
	GElf_Versym version;

	*hidden_ret = false;
	if (!table_version(&dynsym->versions, index, &version))
		return NULL;
	*hidden_ret = version & VERSION_HIDDEN;
	version &= VERSION_INDEX;
	if (version >= dynsym->name_count || !dynsym->names[version].name)
		return NULL;
	return &dynsym->names[version];
}
