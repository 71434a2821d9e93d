/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "report/file/own_descriptor.h"
#include "report/file/whole_file.h"

#define ENOUGH 65536

static int make_file(const char *directory, const char *before)
{
	char *name CLEANUP(xfree_cleanup) =
		xasprintf("%s%s.XXXXXX", directory, before);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)unlink(name);
	return fd;
}

int spool_file(bool *in_memory_ret)
{
	const char *directory = getenv("TMPDIR");
	int fd = make_file(directory && *directory ? directory : "/tmp",
			   "/calltrap");

	if (in_memory_ret)
		*in_memory_ret = fd < 0;
	if (fd >= 0)
		return fd;
	fd = memfd_create("calltrap-spool", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Beside a terminal, a pipe or a device there may be no room for files. */
static bool is_beside_files(const char *path)
{
	struct stat st;

	return !own_descriptor_is(path) &&
	       (stat(path, &st) || S_ISREG(st.st_mode));
}

int spool_open(struct spool *spool, const char *path)
{
	bool in_memory = false;
	int fd = is_beside_files(path) ? make_file(path, "") :
					 spool_file(&in_memory);

	if (fd < 0)
		return fd;
	*spool = (struct spool){ .fd = fd, .in_memory = in_memory };
	return 0;
}

void spool_fini(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	strbuf_fini(&spool->text);
	*spool = SPOOL_CLOSED;
}

static int write_text(struct spool *spool)
{
	spool->written += spool->text.length;
	if (spool->in_memory && spool->written > SPOOL_MEMORY_MAX)
		return -ENOSPC;
	return write_bytes(spool->fd, spool->text.text, spool->text.length);
}

static int write_out(struct spool *spool)
{
	if (!spool->error) {
		spool->error = write_text(spool);
		/* A full disk is not kept full for nothing. */
		if (spool->error && ftruncate(spool->fd, 0))
			diag_debug(DIAG_SESSION, "a spool can't be emptied");
	}
	strbuf_clear(&spool->text);
	return spool->error;
}

void spool_added(struct spool *spool)
{
	if (spool->text.length >= ENOUGH || spool->error)
		(void)write_out(spool);
}

int spool_rewind(struct spool *spool)
{
	int err = write_out(spool);

	if (!err && lseek(spool->fd, 0, SEEK_SET) < 0)
		err = -errno;
	return err;
}
