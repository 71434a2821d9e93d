/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/builtin.h"

#include <string.h>

bool builtin_owns(const char *path)
{
	return !strncmp(path, BUILTIN_FOLDER "/", sizeof(BUILTIN_FOLDER));
}

const struct builtin_file *builtin_find(const char *path)
{
	const struct builtin_file *file;

	if (!builtin_owns(path))
		return NULL;
	for (file = builtin_files; file->name; file++)
		if (!strcmp(file->name, path + sizeof(BUILTIN_FOLDER)))
			return file;
	return NULL;
}
