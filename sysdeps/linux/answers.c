/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "sysdeps/linux/confine.h"
#include "sysdeps/linux/newer_calls.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/served_files.h"

#define PATIENCE    NS_PER_SECOND
#define NEXT_TRY_IN (10 * NS_PER_SECOND)

/* Of a file that may be on one: what is known of it has to do. */
static bool lies_on_one(const struct served_files *files, int fd)
{
	struct statx st;

	return statx_anyhow(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			    STATX_INO, &st) ||
	       served_files_include(files, st.stx_dev_major, st.stx_dev_minor);
}

/* A mount that its root lies within isn't among those that it sees. */
static bool root_lies_on_one(int root, const struct served_files *files)
{
	struct served_files ours = { .count = 0 };

	if (lies_on_one(files, root))
		return true;
	served_files_read(&ours, getpid());
	return ours.count && lies_on_one(&ours, root);
}

bool answers_surely(pid_t pid, int root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	struct served_files files = { .count = 0 };
	long fd;

	served_files_read(&files, pid);
	if (root_lies_on_one(root, &files))
		return false;
	if (!files.count)
		return true;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		return errno != EXDEV && !call_is_missing(errno);
	close(fd);
	return true;
}

/* Opening it would ask the file system already; looking at mappings doesn't. */
bool answers_surely_exe(pid_t pid)
{
	struct served_files files = { .count = 0 };
	struct procfs_mapping mapping;
	taddr_t code;

	served_files_read(&files, pid);
	if (!files.count)
		served_files_read(&files, getpid());
	if (!files.count)
		return true;
	return procfs_start_of_code(pid, &code) &&
	       procfs_find_mapping(pid, code, &mapping) &&
	       !served_files_include(&files, mapping.device_major,
				     mapping.device_minor);
}

static bool ends_in_time(pid_t child)
{
	const struct timespec moment = { .tv_nsec = 200000 };
	const uint64_t deadline = clock_now() + PATIENCE;

	while (!waitpid(child, NULL, WNOHANG)) {
		if (clock_now() > deadline)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

int answers_try(struct silence *silence, int root, const char *path,
		void (*try)(void *context, int root), void *context)
{
	pid_t child;

	if (clock_now() < silence->until)
		return -ETIMEDOUT;
	child = fork();
	if (!child) {
		if (confine_leave(root, "ctrap-files"))
			try(context, CONFINED_SOCKET);
		_exit(0);
	}
	/* Whoever finds the child when it ends at last, doesn't know it. */
	if (child > 0 && ends_in_time(child))
		return 0;
	if (child > 0)
		kill(child, SIGKILL);
	silence->until = clock_now() + NEXT_TRY_IN;
	diag(DIAG_WARNING, DIAG_SESSION,
	     "%s: its file system doesn't answer: such files are not read",
	     path);
	return -ETIMEDOUT;
}
