/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/builtin.h"

#include <errno.h>
#include <string.h>

#include "base/gzip.h"

/* Longer ones are no files of ours. */
#define TEXT_MAX (4u << 20)

bool builtin_owns(const char *path)
{
	return !strncmp(path, BUILTIN_FOLDER "/", sizeof(BUILTIN_FOLDER));
}

static const struct builtin_file *find(const char *path)
{
	const struct builtin_file *file;

	if (!builtin_owns(path))
		return NULL;
	for (file = builtin_files; file->name; file++)
		if (!strcmp(file->name, path + sizeof(BUILTIN_FOLDER)))
			return file;
	return NULL;
}

bool builtin_has(const char *path)
{
	return find(path) != NULL;
}

int builtin_read(const char *path, struct strbuf *text)
{
	const struct builtin_file *file = find(path);

	if (!file)
		return -ENOENT;
	return gzip_expand(text, file->gzip, file->size, TEXT_MAX);
}
