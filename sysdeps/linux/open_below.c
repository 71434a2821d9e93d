/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/types.h"
#include "base/xalloc.h"
#include "sysdeps/linux/newer_calls.h"

/* As many as the kernel follows, and folders deeper than any path can name. */
#define LINKS_MAX 40
#define DEPTH_MAX (PATH_MAX / 2)

/*
 * Where the walk is: the folders on the way, the root first. ".." is the one
 * before, whatever was moved meanwhile.
 */
struct path_walk {
	int *folders;
	size_t depth;
	char *rest;     /* of the path */
	unsigned links; /* that were followed */
	int flags;
};

static void leave_folder(struct path_walk *walk)
{
	close(walk->folders[--walk->depth]);
}

static void go_up(struct path_walk *walk)
{
	if (walk->depth > 1)
		leave_folder(walk);
}

static void go_to_root(struct path_walk *walk)
{
	while (walk->depth > 1)
		leave_folder(walk);
}

static int enter(struct path_walk *walk, int fd)
{
	if (walk->depth == DEPTH_MAX)
		return -ENAMETOOLONG;
	walk->folders = xreallocarray(walk->folders, walk->depth + 1,
				      sizeof(*walk->folders));
	walk->folders[walk->depth++] = fd;
	return 0;
}

/* What a link says stands in its place. */
static int follow(struct path_walk *walk, int link)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
	char *rest;

	if (length <= 0)
		return length ? -errno : -ENOENT;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)length + strlen(walk->rest) > PATH_MAX)
		return -ENAMETOOLONG;
	target[length] = '\0';
	if (target[0] == '/')
		go_to_root(walk);
	rest = xasprintf("%s%s", target, walk->rest);
	free(walk->rest);
	walk->rest = rest;
	return 0;
}

/*
 * Takes the next part off the path; true: it was the last. Behind a slash at the
 * end there is one more, which is empty: the folder itself.
 */
static bool take(struct path_walk *walk, char *name)
{
	size_t before = strspn(walk->rest, "/");
	size_t length = strcspn(walk->rest + before, "/");
	size_t end = before + length;

	memcpy(name, walk->rest + before, length);
	name[length] = '\0';
	memmove(walk->rest, walk->rest + end, strlen(walk->rest + end) + 1);
	return !walk->rest[0];
}

/* One part of the path. 0: go on; 1: *found_ret is what was looked for. */
static int step(struct path_walk *walk, int *found_ret)
{
	char name[PATH_MAX + 1];
	bool last = take(walk, name);
	struct stat st;
	int fd, err;

	if (!strcmp(name, "..")) {
		go_up(walk);
		return 0;
	}
	fd = openat(walk->folders[walk->depth - 1], name[0] ? name : ".",
		    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && S_ISLNK(st.st_mode) &&
	    !(last && walk->flags & O_NOFOLLOW)) {
		err = follow(walk, fd);
	} else if (!err && last) {
		*found_ret = fd;
		return 1;
	} else if (!err) {
		err = S_ISDIR(st.st_mode) ? enter(walk, fd) : -ENOTDIR;
		if (!err)
			return 0;
	}
	close(fd);
	return err;
}

static int run(struct path_walk *walk)
{
	int found = -1, err = 0;

	while (!err && walk->rest[0])
		err = step(walk, &found);
	if (!err)
		found = openat(walk->folders[walk->depth - 1], ".",
			       O_PATH | O_CLOEXEC);
	if (err < 0)
		return err;
	return found < 0 ? -errno : found;
}

static int only_folder(int fd, int flags)
{
	struct stat st;

	if (fd < 0 || !(flags & O_DIRECTORY) ||
	    (!fstat(fd, &st) && S_ISDIR(st.st_mode)))
		return fd;
	close(fd);
	return -ENOTDIR;
}

int open_below_by_steps(int root, const char *path, int flags)
{
	struct path_walk walk = { .flags = flags };
	int fd = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!path[0] || strlen(path) >= PATH_MAX) {
		close(fd);
		return path[0] ? -ENAMETOOLONG : -ENOENT;
	}
	walk.rest = xstrdup(path);
	(void)enter(&walk, fd); /* the first one: there is room */
	fd = only_folder(run(&walk), flags);
	while (walk.depth)
		leave_folder(&walk);
	free(walk.folders);
	free(walk.rest);
	return fd;
}

int open_below(int root, const char *path, int flags)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && call_is_missing(errno))
		return open_below_by_steps(root, path, flags);
	return fd < 0 ? -errno : fd;
}
