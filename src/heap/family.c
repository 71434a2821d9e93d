/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/family.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/builtin.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "heap/families.h"

/* Larger files are no family files. */
#define FILE_SIZE_MAX (4u << 20)

struct families *families_new(void)
{
	return xcalloc(1, sizeof(struct families));
}

void families_free(struct families *families)
{
	if (!families)
		return;
	for (size_t i = 0; i < families->count; i++)
		free(families->all[i]->functions);
	free(families->all);
	HASH_CLEAR(hh, families->names);
	pool_fini(&families->pool);
	free(families);
}

size_t families_count(const struct families *families)
{
	return families->count;
}

const struct family *families_at(const struct families *families, size_t index)
{
	return &families->all[index]->family;
}

static struct family_name *find_name(const struct families *families,
				     const char *name, size_t length)
{
	struct family_name *found;

	HASH_FIND(hh, families->names, name, length, found);
	return found;
}

const struct family_function *families_find(const struct families *families,
					    const char *name)
{
	struct family_name *found = find_name(families, name, strlen(name));

	return found ? found->first : NULL;
}

static struct family_name *name_entry(struct families *families,
				      const char *name, size_t length)
{
	struct family_name *entry = find_name(families, name, length);

	if (!entry) {
		entry = pool_alloc(&families->pool, sizeof(*entry));
		entry->name = pool_strndup(&families->pool, name, length);
		HASH_ADD_KEYPTR(hh, families->names, entry->name, length,
				entry);
	}
	return entry;
}

const char *families_text(struct families *families, const char *text,
			  size_t length)
{
	return name_entry(families, text, length)->name;
}

struct family_draft *families_family(struct families *families,
				     const char *name, size_t length)
{
	const char *text = families_text(families, name, length);
	struct family_draft *draft;

	for (size_t i = 0; i < families->count; i++)
		if (families->all[i]->family.name == text)
			return families->all[i];
	draft = pool_alloc(&families->pool, sizeof(*draft));
	draft->family.name = text;
	draft->family.index = families->count;
	families->all = xgrow(families->all, families->count, &families->room,
			      sizeof(*families->all));
	families->all[families->count++] = draft;
	return draft;
}

/* The place for a function of the family: behind those of other families. */
static struct family_function **place_of(struct family_name *entry,
					 const struct family *family)
{
	struct family_function **at = &entry->first;

	while (*at && (*at)->family != family)
		at = (struct family_function **)&(*at)->next;
	return at;
}

void families_add(struct families *families, struct family_draft *draft,
		  const struct family_function *function, const char *name,
		  size_t length)
{
	struct family_name *entry = name_entry(families, name, length);
	struct family_function **at = place_of(entry, &draft->family);
	struct family_function *added = *at;
	const struct family_function *following;

	if (!added) {
		added = pool_alloc(&families->pool, sizeof(*added));
		*at = added;
		draft->functions =
			xgrow(draft->functions, draft->family.function_count,
			      &draft->room, sizeof(*draft->functions));
		draft->functions[draft->family.function_count++] = added;
		draft->family.functions = draft->functions;
	}
	following = added->next;
	*added = *function;
	added->name = entry->name;
	added->family = &draft->family;
	added->next = following;
}

/* Of a file that the user named: a pipe will do, too. */
static int read_file(const char *path, struct strbuf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = strbuf_read(text, fd, FILE_SIZE_MAX);
	close(fd);
	return err;
}

int families_read(struct families *families, const char *path)
{
	struct strbuf text = { 0 };
	int err = builtin_owns(path) ? builtin_read(path, &text) :
				       read_file(path, &text);

	if (!err)
		families_parse(families, path, strbuf_text(&text), text.length);
	strbuf_fini(&text);
	return err;
}
