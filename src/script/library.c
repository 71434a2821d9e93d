/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/types.h"
#include "script/script.h"

/* Where systems and package managers of the languages put what they install. */
static const char *const places[] = {
	"/lib/",
	"/usr/lib/",
	"/usr/lib64/",
	"/usr/local/lib/",
	"/usr/local/share/perl/",
	"/usr/share/",
};
static const char *const folders[] = {
	"/dist-packages/",
	"/gems/",
	"/site-packages/",
	"/vendor/",
};

/* Text that was never in a file: <frozen os>, <internal:kernel>, (eval 7). */
static bool is_no_file(const char *name)
{
	return name[0] == '<' || !strncmp(name, "(eval ", 6);
}

bool script_is_library(const char *file)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!strncmp(file, places[i], strlen(places[i])))
			return true;
	for (i = 0; i < ARRAY_SIZE(folders); i++)
		if (strstr(file, folders[i]))
			return true;
	return is_no_file(file);
}
