/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "sysdeps/linux/answers.h"
#include "sysdeps/linux/newer_calls.h"
#include "sysdeps/linux/open_below.h"
#include "sysdeps/linux/procfs.h"

/* As many as the kernel takes (NGROUPS_MAX). */
#define GROUPS_MAX 65536

struct shared_silence {
	unsigned references;
	struct silence silence;
};

struct rights {
	unsigned references;
	pid_t pid;
	dev_t root_device; /* these two tell its root from another's */
	ino_t root_inode;
	uid_t user;
	gid_t group;
	gid_t *groups;
	size_t group_count;
	size_t group_room;
	struct shared_silence *shared;
};

static void add_groups(struct rights *rights, const char *list)
{
	char *end;

	for (;; list = end) {
		gid_t group = strtoul(list, &end, 10);

		if (end == list || rights->group_count == GROUPS_MAX)
			return;
		rights->groups = xgrow(rights->groups, rights->group_count,
				       &rights->group_room,
				       sizeof(*rights->groups));
		rights->groups[rights->group_count++] = group;
	}
}

/* The fourth of each is for files; "Groups:" comes after both. */
static bool read_status(struct rights *rights)
{
	char *line CLEANUP(xfree_cleanup) = NULL;
	FILE *file CLEANUP(file_close_cleanup) = NULL;
	bool user = false, group = false;
	char path[64];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)rights->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		if (!strncmp(line, "Uid:", 4))
			user = sscanf(line, "Uid: %*u %*u %*u %u",
				      &rights->user) == 1;
		if (!strncmp(line, "Gid:", 4))
			group = sscanf(line, "Gid: %*u %*u %*u %u",
				       &rights->group) == 1;
		if (!strncmp(line, "Groups:", 7))
			add_groups(rights, line + 7);
	}
	return user && group;
}

static int open_root(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Its file system isn't asked: it may not answer. */
static bool identify(int fd, struct statx *ret)
{
	return !statx_anyhow(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			     STATX_INO, ret);
}

static bool read_root(struct rights *rights)
{
	int fd = open_root(rights->pid);
	struct statx st;
	bool known = fd >= 0 && identify(fd, &st);

	if (known) {
		rights->root_device =
			makedev(st.stx_dev_major, st.stx_dev_minor);
		rights->root_inode = st.stx_ino;
	}
	if (fd >= 0)
		close(fd);
	return known;
}

struct rights *rights_of(pid_t pid)
{
	struct rights *rights = xcalloc(1, sizeof(*rights));

	rights->references = 1;
	rights->pid = pid;
	rights->shared = xcalloc(1, sizeof(*rights->shared));
	rights->shared->references = 1;
	if (read_status(rights) && read_root(rights))
		return rights;
	rights_put(rights);
	return NULL;
}

struct rights *rights_get(struct rights *rights)
{
	if (rights)
		rights->references++;
	return rights;
}

static void put_shared(struct shared_silence *shared)
{
	if (!--shared->references)
		free(shared);
}

void rights_share_silence(struct rights *rights, const struct rights *with)
{
	with->shared->references++;
	put_shared(rights->shared);
	rights->shared = with->shared;
}

void rights_put(struct rights *rights)
{
	if (!rights || --rights->references)
		return;
	put_shared(rights->shared);
	free(rights->groups);
	free(rights);
}

/* ---- being somebody else ---- */

/* What we were. */
struct self {
	bool changed;
	uid_t user;
	gid_t group;
	gid_t *groups;
	int group_count;
};

/*
 * The C library's setgroups() would change all threads; the kernel's changes
 * the one that calls. Without the capabilities that go with uid 0 nothing else
 * is left (capabilities(7), "Effect of user ID changes").
 */
static int set_groups(const gid_t *groups, size_t count)
{
	return syscall(SYS_setgroups, count, groups) ? -errno : 0;
}

static void come_back(struct self *self)
{
	if (!self->changed)
		return;
	setfsuid(self->user);
	setfsgid(self->group);
	(void)set_groups(self->groups, self->group_count);
	free(self->groups);
}

/* Who isn't root can become nobody else, and traces nobody else. */
static int become(const struct rights *rights, struct self *ret)
{
	struct self self = { .user = geteuid(), .group = getegid() };
	int err;

	*ret = self;
	if (!rights || self.user || rights->user == self.user)
		return 0;
	self.group_count = getgroups(0, NULL);
	if (self.group_count < 0)
		return -errno;
	self.groups = xcalloc(self.group_count + 1, sizeof(gid_t));
	self.group_count = getgroups(self.group_count, self.groups);
	err = set_groups(rights->groups, rights->group_count);
	if (err || self.group_count < 0) {
		free(self.groups);
		return err ? err : -EPERM;
	}
	self.changed = true;
	*ret = self;
	setfsgid(rights->group);
	setfsuid(rights->user);
	/* They don't say whether it was done, but what it is now. */
	if ((uid_t)setfsuid(-1) == rights->user &&
	    (gid_t)setfsgid(-1) == rights->group)
		return 0;
	come_back(ret);
	return -EPERM;
}

/* ---- opening ---- */

static bool is_root_of(int fd, const struct rights *rights)
{
	struct statx st;

	return identify(fd, &st) &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) ==
		       rights->root_device &&
	       st.stx_ino == rights->root_inode;
}

/* The number may be another process's by now. */
static int find_root(const struct rights *rights)
{
	int fd = open_root(rights->pid);

	if (fd >= 0 && is_root_of(fd, rights))
		return fd;
	if (fd >= 0)
		close(fd);
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_root_of(fd, rights))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOENT;
}

/* Not yet opened, so it can be looked at; then that very file is opened. */
static int open_found(int found)
{
	char path[64];
	struct stat st;
	int fd;

	if (fstat(found, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_as(const struct rights *rights, int root, const char *path,
		   int flags)
{
	struct self self;
	int found, fd, err = become(rights, &self);

	if (err)
		return err;
	found = rights ? open_below(root, path, flags) :
			 open(path, O_PATH | O_CLOEXEC | flags);
	if (found < 0)
		fd = rights ? found : -errno;
	else
		fd = open_found(found);
	if (found >= 0)
		close(found);
	come_back(&self);
	return fd;
}

/* What is asked of a file: to be found, and its first and last bytes. */
struct trial {
	const struct rights *rights;
	const char *path;
	int flags;
};

static void read_ends(int fd)
{
	struct stat st;
	char byte;

	if (fd >= 0 && !fstat(fd, &st) && pread(fd, &byte, 1, 0) == 1)
		(void)!pread(fd, &byte, 1, st.st_size - 1);
}

static void try_to_read(void *context, int root)
{
	const struct trial *trial = context;

	read_ends(open_as(trial->rights, root, trial->path, trial->flags));
}

static int await_answer(const struct rights *rights, int root, const char *path,
			int flags)
{
	struct trial trial = { rights, path, flags };

	if (answers_surely(rights->pid, root, path))
		return 0;
	return answers_try(&rights->shared->silence, root, path, try_to_read,
			   &trial);
}

int rights_open(const struct rights *rights, const char *path, int flags)
{
	int root = rights ? find_root(rights) : -1, fd;

	if (rights && root < 0)
		return root;
	fd = rights ? await_answer(rights, root, path, flags) : 0;
	if (!fd)
		fd = open_as(rights, root, path, flags);
	if (root >= 0)
		close(root);
	return fd;
}

static void try_to_read_exe(void *context, int root)
{
	const struct rights *rights = context;

	(void)root;
	read_ends(procfs_open_exe(rights->pid));
}

static int await_exe(struct rights *rights, const char *path)
{
	int root, err;

	if (answers_surely_exe(rights->pid))
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	err = answers_try(&rights->shared->silence, root, path, try_to_read_exe,
			  rights);
	close(root);
	return err;
}

int rights_open_exe(struct rights *rights, const char *path)
{
	int err = await_exe(rights, path);

	return err ? err : procfs_open_exe(rights->pid);
}
