/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "report/file/own_descriptor.h"
#include "report/file/whole_file.h"

#define ENOUGH 65536

/* Beside a terminal, a pipe or a device there may be no room for files. */
static char *template_for(const char *path)
{
	const char *directory = getenv("TMPDIR");
	struct stat st;

	if (!own_descriptor_is(path) &&
	    (stat(path, &st) || S_ISREG(st.st_mode)))
		return xasprintf("%s.XXXXXX", path);
	return xasprintf("%s/calltrap.XXXXXX",
			 directory && *directory ? directory : "/tmp");
}

int spool_open(struct spool *spool, const char *path)
{
	char *name CLEANUP(xfree_cleanup) = template_for(path);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)unlink(name);
	*spool = (struct spool){ .fd = fd };
	return 0;
}

void spool_fini(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	strbuf_fini(&spool->text);
	*spool = SPOOL_CLOSED;
}

static int write_out(struct spool *spool)
{
	if (!spool->error) {
		spool->error = write_bytes(spool->fd, spool->text.text,
					   spool->text.length);
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
