/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/callable.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"

/* All in the order of strcmp(). */
static const char *const allocators[] = {
	"aligned_alloc", "calloc",         "cfree",
	"free",          "malloc",         "malloc_usable_size",
	"memalign",      "posix_memalign", "pvalloc",
	"realloc",       "reallocarray",   "valloc",
};

static const char *const watchable[] = {
	"aligned_alloc", "calloc",       "cfree",          "free",
	"malloc",        "memalign",     "posix_memalign", "pvalloc",
	"realloc",       "reallocarray", "valloc",
};

static const char *const c_library[] = {
	"abs",
	"atoi",
	"atol",
	"bcmp",
	"clock_gettime",
	"getegid",
	"getenv",
	"geteuid",
	"getgid",
	"getpid",
	"getppid",
	"gettid",
	"gettimeofday",
	"getuid",
	"isatty",
	"labs",
	"memchr",
	"memcmp",
	"memcpy",
	"memmem",
	"memmove",
	"mempcpy",
	"memrchr",
	"memset",
	"pthread_cond_broadcast",
	"pthread_cond_signal",
	"pthread_getspecific",
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_unlock",
	"pthread_self",
	"pthread_setspecific",
	"rand",
	"random",
	"sched_yield",
	"stpcpy",
	"strcasecmp",
	"strcat",
	"strchr",
	"strcmp",
	"strcpy",
	"strcspn",
	"strdup",
	"strlen",
	"strncasecmp",
	"strncmp",
	"strncpy",
	"strndup",
	"strnlen",
	"strpbrk",
	"strrchr",
	"strspn",
	"strstr",
	"strtol",
	"strtoll",
	"strtoul",
	"strtoull",
	"time",
	"tolower",
	"toupper",
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

static bool is_in(const char *name, const char *const *list, size_t count)
{
	return bsearch(name, list, count, sizeof(*list), compare_names);
}

static bool starts_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

/* glibc's; musl's is libc.musl-x86_64.so.1, or libc.so. */
static bool is_c_library(const char *library)
{
	return library && (starts_with(library, "libc.so") ||
			   starts_with(library, "libc.musl") ||
			   starts_with(library, "libpthread.so"));
}

bool watchable_by_agent(const char *function)
{
	return is_in(function, watchable, ARRAY_SIZE(watchable));
}

bool callable_by_agent(const char *function, const char *library)
{
	return is_in(function, allocators, ARRAY_SIZE(allocators)) ||
	       (is_c_library(library) &&
		is_in(function, c_library, ARRAY_SIZE(c_library)));
}
