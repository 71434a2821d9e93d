/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/fetch_cache.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* As debuginfod_find_debuginfo(3) says under FILES and ENVIRONMENT. */
static char *cache_directory(void)
{
	const char *own = variable("DEBUGINFOD_CACHE_PATH");
	const char *xdg = variable("XDG_CACHE_HOME");
	const char *home = variable("HOME");
	char *old;

	if (own)
		return xstrdup(own);
	if (!home)
		home = "/";
	old = xasprintf("%s/.debuginfod_client_cache", home);
	if (!access(old, F_OK))
		return old;
	free(old);
	return xdg ? xasprintf("%s/debuginfod_client", xdg) :
		     xasprintf("%s/.cache/debuginfod_client", home);
}

static char *path_of(const char *hex)
{
	char *directory = cache_directory();
	char *path = xasprintf("%s/%s/debuginfo", directory, hex);

	free(directory);
	return path;
}

void fetch_write_hex(char ret[FETCH_HEX_SIZE], const uint8_t *id, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < size; i++) {
		*ret++ = digits[id[i] >> 4];
		*ret++ = digits[id[i] & 15];
	}
	*ret = '\0';
}

/* An empty file says that the servers didn't have it, some time ago. */
static bool is_kept(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size;
}

int fetch_cache_open(const char *hex)
{
	CLEANUP(xfree_cleanup) char *path = path_of(hex);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0 && !is_kept(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

void fetch_cache_forget(const char *hex)
{
	CLEANUP(xfree_cleanup) char *path = path_of(hex);
	struct stat status;

	if (!lstat(path, &status) && S_ISREG(status.st_mode) && !status.st_size)
		(void)unlink(path);
}

static bool is_unfinished(const char *path)
{
	static const char begin[] = "debuginfo.";
	const char *name = strrchr(path, '/');

	return name && !strncmp(name + 1, begin, sizeof(begin) - 1);
}

void fetch_cache_drop_unfinished(void)
{
	char link[] = "/proc/self/fd/00", path[PATH_MAX];
	char *digits = link + sizeof(link) - 3;

	for (int fd = 0; fd < 100; fd++) {
		char *number = fd < 10 ? digits + 1 : digits;
		ssize_t n;

		digits[0] = number == digits ? (char)('0' + fd / 10) : '/';
		digits[1] = (char)('0' + fd % 10);
		n = readlink(link, path, sizeof(path) - 1);
		if (n <= 0)
			continue;
		path[n] = '\0';
		if (is_unfinished(path))
			(void)unlink(path);
	}
}
