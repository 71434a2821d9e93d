/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/prototype_path.h"

#include <string.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/data_path.h"

static int add_file(struct prototypes *prototypes, const char *path)
{
	int err = prototypes_add(prototypes, path);

	return err ? complain(err, "-F %s: %s", path, strerror(-err)) : 0;
}

/* Files come last: they may import from any of the directories. */
int prototype_path_load(struct prototypes *prototypes, char *const *configs)
{
	static char *const none[] = { NULL };
	char **directories CLEANUP(data_path_cleanup) = data_path();
	int err = 0;

	configs = configs ? configs : none;
	for (char *const *config = configs; *config; config++)
		if (data_path_is_directory(*config))
			prototypes_add_directory(prototypes, *config);
	for (char **directory = directories; *directory; directory++)
		prototypes_add_directory(prototypes, *directory);
	for (char *const *config = configs; !err && *config; config++)
		if (!data_path_is_directory(*config))
			err = add_file(prototypes, *config);
	return err;
}
