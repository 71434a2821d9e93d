/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "image/private.h"

/*
 * Functions of a few names, out of tables that may be larger than what
 * calltrap may use of memory. Most tables don't have the name at all, so their
 * strings are searched first, as text; only then entries are looked at, for
 * the offsets that were found.
 */

/* Strings are read in parts of this size. */
#define PART_SIZE (256u << 10)

/* Above that the full table is found quicker. */
#define NAMES_MAX 16

/* Ends of strings count, too: a short name is at the end of many. */
#define PLACES_MAX (1u << 20)

/* Where a name was found among the strings. */
struct named_place {
	uint64_t offset;
	size_t name; /* index */
};

struct name_search {
	const struct image *image;
	const char *const *names;
	size_t name_count;
	struct named_place *places;
	size_t count, room;
};

struct asked_name *image_ask(const struct image *image, const char *name)
{
	struct tables *tables = image->tables;
	size_t length = strlen(name);
	struct asked_name *asked;

	HASH_FIND_STR(tables->asked, name, asked);
	if (!asked) {
		asked = xmalloc(sizeof(*asked) + length + 1);
		memset(asked, 0, sizeof(*asked));
		memcpy(asked->text, name, length + 1);
		HASH_ADD_KEYPTR(hh, tables->asked, asked->text, length, asked);
	}
	return asked;
}

void asked_names_free(struct asked_name *names)
{
	struct asked_name *name, *next;

	HASH_ITER(hh, names, name, next) {
		HASH_DEL(names, name);
		free(name->exports.list);
		free(name);
	}
}

static void add_place(struct name_search *search, uint64_t offset, size_t name)
{
	if (search->count == PLACES_MAX)
		return;
	search->places = xgrow(search->places, search->count, &search->room,
			       sizeof(*search->places));
	search->places[search->count++] = (struct named_place){ offset, name };
}

/*
 * Finds the strings that begin in the first limit bytes of a part. A NUL
 * stands behind its size bytes.
 */
static void search_part(struct name_search *search, const char *part,
			size_t size, size_t limit, uint64_t offset)
{
	size_t i;

	for (i = 0; i < search->name_count; i++) {
		const char *name = search->names[i];
		const size_t length = strlen(name);
		const char *p = part;

		while (length &&
		       (p = memmem(p, part + size - p, name, length)) &&
		       p < part + limit) {
			/* Linkers write foo@V and foo@@V into .symtab. */
			if (p[length] == '\0' || p[length] == '@')
				add_place(search, offset + (p - part), i);
			p++;
		}
	}
}

static size_t longest(const struct name_search *search)
{
	size_t length = 0, i;

	for (i = 0; i < search->name_count; i++)
		if (strlen(search->names[i]) > length)
			length = strlen(search->names[i]);
	return length;
}

/* Parts overlap by the longest name and what follows it. */
static void search_strings(struct name_search *search,
			   const struct symtab *symtab)
{
	const size_t room = PART_SIZE + longest(search) + 1;
	char *part = xmalloc(room + 1);
	uint64_t at = 0;
	size_t got = room;

	while (at < symtab->strings_size && got == room) {
		uint64_t rest = symtab->strings_size - at;

		got = source_read(symtab->source, symtab->strings + at, part,
				  rest < room ? rest : room);
		part[got] = '\0';
		search_part(search, part, got, got < room ? got : PART_SIZE,
			    at);
		at += PART_SIZE;
	}
	free(part);
}

static int compare_places(const void *left, const void *right)
{
	const struct named_place *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const struct named_place *place_at(const struct name_search *search,
					  uint64_t offset)
{
	struct named_place key = { .offset = offset };

	if (offset < search->places[0].offset ||
	    offset > search->places[search->count - 1].offset)
		return NULL;
	return bsearch(&key, search->places, search->count, sizeof(key),
		       compare_places);
}

static void look_in_symtab(struct name_search *search,
			   const struct symtab *symtab, struct symbol_list *ret)
{
	const struct image *image = search->image;
	CLEANUP(table_fini) struct table table = { 0 };
	GElf_Sym elf;
	uint64_t i;

	search->count = 0;
	search_strings(search, symtab);
	if (!search->count)
		return;
	qsort(search->places, search->count, sizeof(*search->places),
	      compare_places);
	symtab_entries(symtab, &table);
	for (i = 1; table_symbol(&table, i, &elf) && ret->count < SYMBOLS_MAX;
	     i++) {
		const struct named_place *place = place_at(search, elf.st_name);

		if (place && image_is_function(image, &elf))
			symbol_list_add(ret,
					image_ask(image,
						  search->names[place->name])
						->text,
					&elf);
	}
}

static void look_in_tables(const struct image *image, const char *const *names,
			   size_t name_count, struct symbol_list *ret)
{
	struct name_search search = {
		.image = image,
		.names = names,
		.name_count = name_count,
	};
	struct tables *tables = image_basis(image);
	const struct symtab *debug = image_debug_symtab(image);
	size_t i, j;

	for (i = 0; i < name_count; i++) {
		const struct symbol_list *exports =
			image_exports_named(image, names[i]);

		for (j = 0; j < exports->count; j++)
			symbol_list_add_copy(ret, &exports->list[j]);
	}
	if (tables->symtab.source)
		look_in_symtab(&search, &tables->symtab, ret);
	if (debug)
		look_in_symtab(&search, debug, ret);
	free(search.places);
	symbol_list_order(ret);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void look_in_list(const struct symbol_list *symbols,
			 const char *const *names, size_t name_count,
			 struct symbol_list *ret)
{
	const char **sorted = xcalloc(name_count, sizeof(*sorted));
	size_t i;

	for (i = 0; i < name_count; i++)
		sorted[i] = names[i];
	qsort(sorted, name_count, sizeof(*sorted), compare_names);
	for (i = 0; i < symbols->count; i++)
		if (bsearch(&symbols->list[i].name, sorted, name_count,
			    sizeof(*sorted), compare_names))
			symbol_list_add_copy(ret, &symbols->list[i]);
	free(sorted);
}

struct symbol *image_symbols_named(const struct image *image,
				   const char *const *names, size_t name_count,
				   size_t *count_ret)
{
	struct symbol_list found = { 0 };

	if (name_count > NAMES_MAX)
		(void)image_symbol_tables(image);
	if (image->tables->has_symbols)
		look_in_list(&image->tables->symbols, names, name_count,
			     &found);
	else
		look_in_tables(image, names, name_count, &found);
	*count_ret = found.count;
	return found.list;
}

/* Of exports, any version will do, the default one best. */
static const struct symbol *find_exported(const struct image *image,
					  const char *name)
{
	const struct symbol *symbol = image_find_export(image, name, NULL);
	const struct symbol_list *exports = image_exports_named(image, name);
	size_t i;

	for (i = 0; !symbol && i < exports->count; i++)
		if (exports->list[i].exported)
			symbol = &exports->list[i];
	return symbol;
}

/* Global ones first. */
static void answer(struct asked_name *asked, const struct symbol *symbols,
		   size_t count)
{
	size_t i;

	asked->answered = true;
	for (i = 0; i < count; i++) {
		if (strcmp(symbols[i].name, asked->text) ||
		    (asked->found && asked->symbol.global >= symbols[i].global))
			continue;
		asked->found = true;
		asked->symbol = symbols[i];
	}
}

void image_find_symbols(const struct image *image, const char *const *names,
			size_t count, const struct symbol **ret)
{
	CLEANUP(xfree_cleanup)
	const char **open = xcalloc(count, sizeof(*open));
	CLEANUP(xfree_cleanup) struct symbol *found = NULL;
	size_t i, n = 0, found_count = 0;

	for (i = 0; i < count; i++) {
		ret[i] = find_exported(image, names[i]);
		if (!ret[i] && !image_ask(image, names[i])->answered)
			open[n++] = names[i];
	}
	if (n)
		found = image_symbols_named(image, open, n, &found_count);
	for (i = 0; i < n; i++)
		answer(image_ask(image, open[i]), found, found_count);
	for (i = 0; i < count; i++) {
		struct asked_name *asked = ret[i] ? NULL :
						    image_ask(image, names[i]);

		if (asked && asked->found)
			ret[i] = &asked->symbol;
	}
}

const struct symbol *image_find_symbol(const struct image *image,
				       const char *name)
{
	const struct symbol *symbol;

	image_find_symbols(image, &name, 1, &symbol);
	return symbol;
}
