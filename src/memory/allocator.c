/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/allocator.h"

#include <string.h>

#include "base/file.h"

/* ld-musl-x86_64.so.1 is often a link to .../x86_64-linux-musl/libc.so. */
static bool is_musl(const char *path, const char *name)
{
	return strstr(path, "musl") &&
	       (!strncmp(name, "ld-", 3) || !strncmp(name, "libc.", 5));
}

/* What they keep of their memory is not for others to see. */
const char *allocator_other(const struct mappings *mappings, bool musl)
{
	static const char *const known[][2] = {
		{ "libjemalloc", "jemalloc" },
		{ "libtcmalloc", "tcmalloc" },
		{ "libmimalloc", "mimalloc" },
	};

	for (size_t m = 0; m < mappings->count; m++) {
		const char *path = mappings->list[m].path;
		const char *name = file_base_name(path);

		if (musl && is_musl(path, name))
			return "musl's malloc";

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (!strncmp(name, known[i][0], strlen(known[i][0])))
				return known[i][1];
	}
	return NULL;
}

const char *allocator_by_file(const struct mappings *mappings)
{
	const char *other = allocator_other(mappings, true);

	for (size_t m = 0; !other && m < mappings->count; m++) {
		const char *name = file_base_name(mappings->list[m].path);

		if (!strcmp(name, "libc.so.6") || !strncmp(name, "libc-2.", 7))
			other = "glibc's malloc";
	}
	return other;
}
