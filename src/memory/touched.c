/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/touched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/linux/smaps.h"

/* What is written to clear_refs (proc(5)). */
#define FORGET_USES  "1"
#define FORGET_DIRTY "4"

static int write_digit(int fd, const char *digit)
{
	return write(fd, digit, 1) == 1 ? 0 : -errno;
}

/* Then others may be watching what is written, and lose what they have. */
static bool kernel_has_dirty_bits(void)
{
	struct smaps *smaps = smaps_open(getpid());
	struct smaps_row row;
	bool any = false;

	while (smaps && !any && smaps_next(smaps, &row))
		any = row.soft_dirty;
	smaps_close(smaps);
	return any;
}

/*
 * A processor notes in the page table that a page is used when it looks there,
 * which it doesn't for addresses that it has at hand. Kernels that don't keep
 * what is dirty make all forget these when they are asked to forget that.
 */
static int forget(pid_t pid, bool *sure_ret)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ERR_GONE : -errno;
	err = write_digit(fd, FORGET_USES);
	*sure_ret = !err && !kernel_has_dirty_bits() &&
		    !write_digit(fd, FORGET_DIRTY);
	close(fd);
	return err == -ESRCH ? -ERR_GONE : err;
}

int touched_try(bool *dirty_ret)
{
	const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	*dirty_ret = kernel_has_dirty_bits();
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void wait_for(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000) };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int read_uses(pid_t pid, struct touched *ret)
{
	struct smaps *smaps = smaps_open(pid);
	struct smaps_row row;

	while (smaps && smaps_next(smaps, &row)) {
		ret->list = xgrow(ret->list, ret->count, &ret->room,
				  sizeof(*ret->list));
		ret->list[ret->count++] = (struct touched_part){
			.start = row.mapping.start,
			.resident = row.resident,
			.touched = row.referenced,
		};
	}
	smaps_close(smaps);
	return ret->count ? 0 : -ERR_GONE;
}

int touched_watch(pid_t pid, uint64_t wait_ns, struct touched *ret)
{
	int err;

	*ret = (struct touched){ .wait_ns = wait_ns };
	err = forget(pid, &ret->sure);
	if (err)
		return err;
	wait_for(wait_ns);
	return read_uses(pid, ret);
}

void touched_fini(struct touched *touched)
{
	free(touched->list);
	*touched = (struct touched){ .list = NULL };
}

const struct touched_part *touched_at(const struct touched *touched,
				      taddr_t start)
{
	size_t low = 0, high = touched->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (touched->list[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < touched->count && touched->list[low].start == start ?
		       &touched->list[low] :
		       NULL;
}
