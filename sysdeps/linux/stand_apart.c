/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/stand_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/types.h"

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; /* it isn't allowed to, and does without */
	close(fd);
}

/* Who kills everything that is called calltrap means us as little as can be. */
static void rename_process(const char *name)
{
	char line[65536];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, line, sizeof(line)) : 0;

	if (fd >= 0)
		close(fd);
	prctl(PR_SET_NAME, name);
	/* The kernel shows what stands where the arguments were. */
	if (size > (ssize_t)strlen(name) + 1) {
		memset(program_invocation_name, 0, size);
		strcpy(program_invocation_name, name);
	}
}

/*
 * A group that is killed or frozen as a whole (a container's, a service's) is
 * calltrap's, not ours; where we may, we live in the root.
 */
static const char *const roots[] = {
	"/sys/fs/cgroup/cgroup.procs",
	"/sys/fs/cgroup/unified/cgroup.procs",
	"/sys/fs/cgroup/memory/cgroup.procs",
	"/sys/fs/cgroup/freezer/cgroup.procs",
	"/sys/fs/cgroup/systemd/cgroup.procs",
};

void stand_apart(const char *name)
{
	size_t i;

	setsid();
	rename_process(name);
	write_to("/proc/self/oom_score_adj", "-1000");
	for (i = 0; i < ARRAY_SIZE(roots); i++)
		write_to(roots[i], "0");
}
