/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * Names that a file was made up of to have one hash: no honest chain is that
 * long, nor does any function have that many versions.
 */
#define WALK_MAX 1024

/* FNV-1a */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 16777619u;
	return hash;
}

/* From the last to the first, so that chains are in the table's order. */
static void index_exports(struct tables *tables)
{
	size_t count = tables->exports.count, size = 16, i;

	while (size < count)
		size *= 2;
	tables->export_mask = size - 1;
	tables->export_heads = xcalloc(size, sizeof(*tables->export_heads));
	tables->export_links = xcalloc(count, sizeof(*tables->export_links));
	for (i = count; i-- > 0;) {
		uint32_t hash = hash_of(tables->exports.list[i].name);
		uint32_t *head =
			&tables->export_heads[hash & tables->export_mask];

		tables->export_links[i] = (struct export_link){ hash, *head };
		*head = i + 1;
	}
}

struct export_walk export_walk(const struct image *image, const char *name)
{
	struct tables *tables = image->tables;
	uint32_t hash = hash_of(name);

	(void)image_exports(image);
	if (!tables->export_heads)
		index_exports(tables);
	return (struct export_walk){
		.tables = tables,
		.name = name,
		.hash = hash,
		.next = tables->export_heads[hash & tables->export_mask],
		.left = WALK_MAX,
	};
}

const struct symbol *export_walk_next(struct export_walk *walk)
{
	while (walk->next && walk->left--) {
		uint32_t i = walk->next - 1;
		const struct export_link *link =
			&walk->tables->export_links[i];
		const struct symbol *symbol = &walk->tables->exports.list[i];

		walk->next = link->next;
		if (link->hash == walk->hash &&
		    !strcmp(symbol->name, walk->name))
			return symbol;
	}
	return NULL;
}

static bool matches(const struct symbol *symbol, const char *version)
{
	if (!version)
		return !symbol->hidden_version;
	return symbol->version && !strcmp(symbol->version, version);
}

/*
 * A symbol without a version serves a reference that wants one, as in
 * glibc's elf/dl-lookup.c: a library may have lost its versions.
 */
const struct symbol *image_find_export(const struct image *image,
				       const char *name, const char *version)
{
	struct export_walk walk = export_walk(image, name);
	const struct symbol *symbol, *unversioned = NULL;

	while ((symbol = export_walk_next(&walk))) {
		if (!symbol->exported)
			continue;
		if (matches(symbol, version))
			return symbol;
		if (!symbol->version && !symbol->hidden_version)
			unversioned = symbol;
	}
	return unversioned;
}

bool image_find_object(const struct image *image, const char *name,
		       uint64_t *address_ret)
{
	struct dynsym *dynsym = &image_basis(image)->dynsym;
	uint64_t i;

	for (i = 1; i < dynsym->count; i++) {
		struct elf_symbol symbol;
		const char *found;

		if (dynsym_get(dynsym, image_word_size(image), i, &symbol,
			       &found) &&
		    (symbol.type == STT_OBJECT || symbol.type == STT_NOTYPE) &&
		    symbol.section != SHN_UNDEF &&
		    symbol.binding != STB_LOCAL && !strcmp(found, name) &&
		    image_segment_at(image, symbol.value)) {
			*address_ret = symbol.value;
			return true;
		}
	}
	return false;
}
