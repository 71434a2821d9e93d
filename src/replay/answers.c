/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/answers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* The file that a function is from; NULL: there is none. */
static const char *file_of(const char *function)
{
	void *address = dlsym(RTLD_DEFAULT, function);
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fname : NULL;
}

static bool is_file(const char *path, const char *wanted)
{
	struct stat a, b;

	if (!strchr(wanted, '/'))
		return !strcmp(file_base_name(path), wanted);
	return !stat(path, &a) && !stat(wanted, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static bool check(const char *function, const char *wanted, char *problem,
		  size_t room)
{
	const char *path = file_of(function);

	if (!wanted)
		snprintf(problem, room,
			 "no other allocator can be loaded, as "
			 "calltrap is linked statically");
	else if (!path)
		snprintf(problem, room, "there is no %s()", function);
	else if (!is_file(path, wanted))
		snprintf(problem, room,
			 "its %s() doesn't answer, but that of "
			 "%s",
			 function, path);
	else
		return true;
	return false;
}

bool answers_check(const char *file, bool aligned, char *problem, size_t room)
{
	static const char *const functions[] = { "malloc", "calloc", "realloc",
						 "free" };
	/* Something that nobody replaces is where the C library is. */
	const char *wanted = *file ? file : file_of("gnu_get_libc_version");

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!check(functions[i], wanted, problem, room))
			return false;
	return !aligned || check("posix_memalign", wanted, problem, room);
}
