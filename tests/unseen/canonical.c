/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Serves files by name. Names that lead out of the root are refused, and what
 * realpath() has said of them is not freed.
 */
#include "server.h"
#include <limits.h>
#include <unistd.h>

static char *canonical_name(const char *name)
{
	return realpath(name, NULL);
}

static char *read_target(const char *name)
{
	char *target = malloc(PATH_MAX);
	ssize_t size = readlink(name, target, PATH_MAX - 1);

	target[size < 0 ? 0 : size] = '\0';
	return target;
}

static int serve_file(const char *name)
{
	char *path = canonical_name(name), *target;

	if (!path || strncmp(path, "/usr/", 5))
		return 403;
	target = read_target(path);
	use(target);
	free(target);
	free(path);
	return 200;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"/usr/bin", "/usr/lib/..", "/usr/share", "/usr/../etc",
		"/usr/bin/../lib",
	};

	serve_for(argc, argv);
	while (serving(40))
		serve_file(names[pick(5)]);
	return 0;
}
