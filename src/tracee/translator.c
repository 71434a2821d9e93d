/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/translator.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "base/xalloc.h"
#include "sysdeps/linux/procfs.h"

static bool ends_with(const char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	return length >= size && !memcmp(text + length - size, end, size);
}

/* TOOL-PLATFORM, in a folder that is its own: .in_place where it was built. */
bool translator_is(const char *path)
{
	static const char *const platforms[] = { "-amd64-linux", "-x86-linux",
						 "-arm64-linux" };
	static const char *const folders[] = { "/valgrind", "/.in_place" };
	const char *const name = strrchr(path, '/');
	bool tool = false, own = false;

	if (!name)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(platforms); i++)
		tool = tool || ends_with(name, strlen(name), platforms[i]);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		own = own || ends_with(path, (size_t)(name - path), folders[i]);
	return tool && own;
}

char *translator_refuse(pid_t pid)
{
	char *path CLEANUP(xfree_cleanup) = procfs_exe(pid);
	char comm[PROCFS_COMM_ROOM];

	if (!path || !translator_is(path))
		return NULL;
	procfs_comm(pid, comm);
	return xasprintf("process %d (%s) runs under valgrind, which executes "
			 "translations of its code: no function of it can be "
			 "trapped. Run it without valgrind, or see its system "
			 "calls (-L -S)",
			 (int)pid, comm);
}
