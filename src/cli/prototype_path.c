/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/prototype_path.h"

#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/data_path.h"

static int add_named(struct prototypes *prototypes, const char *path)
{
	int err;

	if (data_path_is_directory(path)) {
		prototypes_add_directory(prototypes, path);
		return 0;
	}
	err = prototypes_add(prototypes, path);
	if (err)
		return complain(err, "-F %s: %s", path, strerror(-err));
	return 0;
}

int prototype_path_load(struct prototypes *prototypes, char *const *configs)
{
	char **directories CLEANUP(data_path_cleanup) = data_path();

	for (; configs && *configs; configs++) {
		int err = add_named(prototypes, *configs);

		if (err)
			return err;
	}
	for (char **directory = directories; *directory; directory++)
		prototypes_add_directory(prototypes, *directory);
	return 0;
}
