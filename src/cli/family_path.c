/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/family_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/builtin.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "cli/data_path.h"

/* NULL when there is none. */
static char *find_named(const struct data_path *where, const char *name)
{
	for (char **directory = where->directories; *directory; directory++) {
		char *path =
			xasprintf("%s/families/%s.families", *directory, name);

		if (builtin_has(path) || !access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Among files that aren't there, none can be missing. */
static int complain_missing(const struct data_path *where, const char *name)
{
	if (where->complete)
		return complain(-ENOENT,
				"%s: there is no such file of "
				"families, here or among those of calltrap",
				name);
	return complain(-ENOENT,
			"%s: there is no such file of families here, "
			"and those of calltrap aren't where they were "
			"installed (%s)",
			name, CALLTRAP_DATADIR);
}

int family_path_load(struct families *families, const char *name)
{
	struct data_path where CLEANUP(data_path_fini);
	char *found CLEANUP(xfree_cleanup) = NULL;
	int err;

	data_path_init(&where);
	if (!strchr(name, '/') && access(name, F_OK))
		found = find_named(&where, name);
	err = families_read(families, found ? found : name);
	if (err == -ENOENT && !strchr(name, '/'))
		return complain_missing(&where, name);
	if (err)
		return complain(err, "%s can't be read: %s",
				found ? found : name, strerror(-err));
	return 0;
}
