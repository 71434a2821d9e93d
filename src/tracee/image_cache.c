/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/image_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "sysdeps/linux/rights.h"

/* What makes two open files the same, unchanged one. */
struct file_id {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	int64_t seconds;
	int64_t nanoseconds;
};

struct cached_image {
	struct file_id id;
	struct image *image;
	UT_hash_handle hh;
};

struct image_cache {
	struct cached_image *images; /* what was asked for last is last */
	struct rights *first;        /* the others share its silence */
};

/* So many that no module uses are kept: what was unloaded may come back. */
#define UNUSED_MAX 32

struct image_cache *image_cache_new(void)
{
	return xcalloc(1, sizeof(struct image_cache));
}

static void drop(struct image_cache *cache, struct cached_image *cached)
{
	HASH_DEL(cache->images, cached);
	image_put(cached->image);
	free(cached);
}

void image_cache_free(struct image_cache *cache)
{
	struct cached_image *cached, *next;

	HASH_ITER(hh, cache->images, cached, next)
		drop(cache, cached);
	rights_put(cache->first);
	free(cache);
}

static void drop_oldest(struct image_cache *cache)
{
	struct cached_image *cached, *next;
	size_t unused = 0;

	HASH_ITER(hh, cache->images, cached, next)
		unused += !image_is_shared(cached->image);
	HASH_ITER(hh, cache->images, cached, next) {
		if (unused <= UNUSED_MAX)
			break;
		if (image_is_shared(cached->image))
			continue;
		drop(cache, cached);
		unused--;
	}
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct rights *rights_for(struct image_cache *cache, pid_t pid)
{
	struct rights *rights = rights_of(pid);

	if (rights && cache->first)
		rights_share_silence(rights, cache->first);
	else if (rights)
		cache->first = rights_get(rights);
	return rights;
}

/* path is as the process sees it. */
static int open_new(struct image_cache *cache, int fd, pid_t pid,
		    const char *path, struct cached_image **ret)
{
	struct cached_image *cached;
	struct rights *rights;
	struct image *image;
	char root[PROCFS_PATH_ROOM];
	int err = image_open(fd, path, &image);

	if (err)
		return err;
	procfs_root(pid, root);
	rights = rights_for(cache, pid);
	/* Without them it has ended, and names nothing any more. */
	if (rights) {
		image_set_debug_rights(image, rights);
		image_set_debug_path(image, root, path);
	}
	rights_put(rights);
	drop_oldest(cache);
	cached = xcalloc(1, sizeof(*cached));
	cached->image = image;
	*ret = cached;
	return 0;
}

static int open_cached(struct image_cache *cache, int fd, pid_t pid,
		       const char *path, struct image **ret)
{
	struct cached_image *cached;
	struct file_id id;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	memset(&id, 0, sizeof(id));
	id = (struct file_id){ st.st_dev, st.st_ino, st.st_size,
			       st.st_mtim.tv_sec, st.st_mtim.tv_nsec };
	HASH_FIND(hh, cache->images, &id, sizeof(id), cached);
	if (cached) {
		HASH_DEL(cache->images, cached);
	} else {
		err = open_new(cache, fd, pid, path, &cached);
		if (err)
			return err;
		cached->id = id;
	}
	HASH_ADD(hh, cache->images, id, sizeof(id), cached);
	*ret = image_get(cached->image);
	return 0;
}

/*
 * The file of that name, if it is still the one that is mapped. Only the
 * inode is compared: overlay and btrfs show another device in maps than in
 * stat.
 */
static int open_by_path(struct image_cache *cache, pid_t pid,
			const struct procfs_mapping *mapping)
{
	struct rights *rights;
	struct stat st;
	int fd;

	rights = rights_for(cache, pid);
	if (!rights)
		return -ESRCH;
	fd = rights_open(rights, mapping->path, 0);
	rights_put(rights);
	if (fd < 0 || (!fstat(fd, &st) && st.st_ino == mapping->inode))
		return fd;
	close(fd);
	return -ESTALE;
}

int image_cache_open(struct image_cache *cache, pid_t pid,
		     const struct procfs_mapping *mapping, struct image **ret)
{
	int fd CLEANUP(close_fd) = -1;

	if (mapping->path[0] != '/')
		return -ENOENT;
	fd = open_by_path(cache, pid, mapping);
	if (fd < 0 && fd != -ETIMEDOUT)
		fd = procfs_open_mapped(pid, mapping);
	if (fd < 0)
		return -ENOENT;
	return open_cached(cache, fd, pid, mapping->path, ret);
}

int image_cache_open_exe(struct image_cache *cache, pid_t pid,
			 struct image **ret)
{
	char *path CLEANUP(xfree_cleanup) = procfs_exe(pid);
	struct rights *rights = rights_for(cache, pid);
	char link[PROCFS_PATH_ROOM];
	int fd CLEANUP(close_fd) = -1;

	procfs_exe_link(pid, link);
	fd = rights ? rights_open_exe(rights, path ? path : link) :
		      procfs_open_exe(pid);
	rights_put(rights);
	if (fd < 0)
		return fd;
	return open_cached(cache, fd, pid, path ? path : link, ret);
}
