/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "debuginfo/private.h"

/*
 * How often the places where files may lie are looked at while something is
 * fetched, and how often whether somebody has lost patience.
 */
#define PAUSE (NS_PER_SECOND / 20)

static bool may_wait(const struct debuginfo *debuginfo)
{
	return clock_now() < debuginfo->fetch_until &&
	       *debuginfo->interrupts == debuginfo->interrupted;
}

static int fetch(struct debuginfo *debuginfo, const uint8_t *id, size_t size,
		 int *ret)
{
	bool waiting;
	int err;

	if (!debuginfo->fetcher)
		return -ENOENT;
	do {
		waiting = may_wait(debuginfo);
		err = fetcher_get(debuginfo->fetcher, id, size,
				  waiting ? clock_now() + PAUSE : 0, ret);
	} while (err == -EAGAIN && waiting);
	return err;
}

static int fetch_debug(struct debuginfo *debuginfo, const struct image *image,
		       struct debug_files *ret)
{
	const uint8_t *id;
	size_t size;
	int fd, err;

	id = image_build_id(image, &size);
	err = fetch(debuginfo, id, size, &fd);
	if (err)
		return err;
	err = image_open_debug_in(image, fd, ret);
	if (err)
		diag_debug(DIAG_MODULE,
			   "%s: debuginfod's file isn't its debug information",
			   image_name(image));
	close(fd);
	return err;
}

/* Without it some names and types are not known, but most are. */
static int fetch_common(struct debuginfo *debuginfo, struct debug_files *files)
{
	int err, fd;

	if (!files->common_id_size)
		return 0;
	err = fetch(debuginfo, files->common_id, files->common_id_size, &fd);
	if (err)
		return err == -EAGAIN ? err : 0;
	if (image_has_build_id(fd, files->common_id, files->common_id_size))
		files->common_fd = fd;
	else
		close(fd);
	return 0;
}

static int find_files(struct debuginfo *debuginfo, const struct image *image,
		      struct debug_files *ret)
{
	int err = image_open_debug(image, ret);

	if (err)
		err = fetch_debug(debuginfo, image, ret);
	if (err)
		return err;
	err = fetch_common(debuginfo, ret);
	if (err)
		close(ret->fd);
	return err;
}

int debuginfo_find_files(struct debuginfo *debuginfo, struct record *record,
			 struct debug_files *ret)
{
	uint64_t now = clock_now();
	int err;

	/* A stopped task waits for this. */
	if (record->fetched_at && now - record->fetched_at < PAUSE &&
	    !may_wait(debuginfo))
		return -EAGAIN;
	err = find_files(debuginfo, record->image, ret);
	record->fetched_at = err == -EAGAIN ? now : 0;
	return err;
}
