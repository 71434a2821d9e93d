/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/family_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/data_path.h"

/* NULL when there is none. */
static char *find_named(const char *name)
{
	bool complete;
	char **directories CLEANUP(data_path_cleanup) = data_path(&complete);

	for (char **directory = directories; *directory; directory++) {
		char *path = xasprintf("%s/families/%s.families", *directory,
				       name);

		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

int family_path_load(struct families *families, const char *name)
{
	char *found CLEANUP(xfree_cleanup) = NULL;
	int err;

	if (!strchr(name, '/') && access(name, F_OK))
		found = find_named(name);
	err = families_read(families, found ? found : name);
	if (err == -ENOENT && !strchr(name, '/'))
		return complain(err, "%s: there is no such file of families, "
				"here or among those of calltrap", name);
	if (err)
		return complain(err, "%s can't be read: %s",
				found ? found : name, strerror(-err));
	return 0;
}
