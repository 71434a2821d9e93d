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

/* The headers say of each that it throws nothing; none is cancelled. */
static const char *const c_library[] = {
	"__ctype_b_loc",
	"__ctype_get_mb_cur_max",
	"__ctype_tolower_loc",
	"__ctype_toupper_loc",
	"__errno_location",
	"__fbufsize",
	"__fpending",
	"__fpurge",
	"__freadable",
	"__freading",
	"__fsetlocking",
	"__fwritable",
	"__fwriting",
	"__memcpy_chk",
	"__memmove_chk",
	"__mempcpy_chk",
	"__memset_chk",
	"__stpcpy_chk",
	"__stpncpy_chk",
	"__strcpy_chk",
	"__strncpy_chk",
	"abs",
	"access",
	"atof",
	"atoi",
	"atol",
	"bcmp",
	"btowc",
	"bzero",
	"clearerr",
	"clearerr_unlocked",
	"clock",
	"clock_getres",
	"clock_gettime",
	"difftime",
	"dirfd",
	"drand48",
	"dup",
	"epoll_ctl",
	"explicit_bzero",
	"feof",
	"feof_unlocked",
	"ferror",
	"ferror_unlocked",
	"ffs",
	"ffsl",
	"ffsll",
	"fileno",
	"fileno_unlocked",
	"fstat",
	"fstat64",
	"fstatat",
	"fstatat64",
	"ftruncate",
	"getcwd",
	"getdtablesize",
	"getegid",
	"getenv",
	"geteuid",
	"getgid",
	"getpagesize",
	"getpeername",
	"getpgid",
	"getpgrp",
	"getpid",
	"getppid",
	"getpriority",
	"getrlimit",
	"getrusage",
	"getsid",
	"getsockname",
	"getsockopt",
	"gettid",
	"gettimeofday",
	"getuid",
	"gmtime",
	"gmtime_r",
	"htonl",
	"htons",
	"index",
	"inet_ntop",
	"inet_pton",
	"isatty",
	"iswalnum",
	"iswalpha",
	"iswctype",
	"iswdigit",
	"iswlower",
	"iswprint",
	"iswpunct",
	"iswspace",
	"iswupper",
	"iswxdigit",
	"labs",
	"llabs",
	"localeconv",
	"localtime",
	"localtime_r",
	"lseek",
	"lseek64",
	"lstat",
	"lstat64",
	"madvise",
	"mbrlen",
	"mbrtowc",
	"mbsinit",
	"mbsnrtowcs",
	"mbsrtowcs",
	"mbstowcs",
	"mbtowc",
	"memccpy",
	"memchr",
	"memcmp",
	"memcpy",
	"memmem",
	"memmove",
	"mempcpy",
	"memrchr",
	"memset",
	"mktime",
	"nl_langinfo",
	"ntohl",
	"ntohs",
	"posix_fadvise",
	"pthread_cond_broadcast",
	"pthread_cond_destroy",
	"pthread_cond_init",
	"pthread_cond_signal",
	"pthread_equal",
	"pthread_getspecific",
	"pthread_mutex_destroy",
	"pthread_mutex_init",
	"pthread_mutex_lock",
	"pthread_mutex_trylock",
	"pthread_mutex_unlock",
	"pthread_mutexattr_destroy",
	"pthread_mutexattr_init",
	"pthread_mutexattr_settype",
	"pthread_rwlock_destroy",
	"pthread_rwlock_init",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_tryrdlock",
	"pthread_rwlock_trywrlock",
	"pthread_rwlock_unlock",
	"pthread_rwlock_wrlock",
	"pthread_self",
	"pthread_setspecific",
	"pthread_spin_lock",
	"pthread_spin_trylock",
	"pthread_spin_unlock",
	"rand",
	"rand_r",
	"random",
	"rawmemchr",
	"readlink",
	"rindex",
	"sched_getcpu",
	"sched_yield",
	"secure_getenv",
	"sem_getvalue",
	"sem_post",
	"sem_trywait",
	"setenv",
	"setsockopt",
	"sigaction",
	"sigaddset",
	"sigdelset",
	"sigemptyset",
	"sigfillset",
	"sigismember",
	"srand",
	"srandom",
	"stat",
	"stat64",
	"stpcpy",
	"stpncpy",
	"strcasecmp",
	"strcasestr",
	"strcat",
	"strchr",
	"strchrnul",
	"strcmp",
	"strcoll",
	"strcpy",
	"strcspn",
	"strdup",
	"strerror",
	"strftime",
	"strlen",
	"strncasecmp",
	"strncat",
	"strncmp",
	"strncpy",
	"strndup",
	"strnlen",
	"strpbrk",
	"strrchr",
	"strsep",
	"strspn",
	"strstr",
	"strtoimax",
	"strtok",
	"strtok_r",
	"strtol",
	"strtoll",
	"strtoul",
	"strtoull",
	"strtoumax",
	"strverscmp",
	"strxfrm",
	"sysconf",
	"time",
	"timegm",
	"tolower",
	"toupper",
	"towlower",
	"towupper",
	"umask",
	"uname",
	"unlink",
	"unsetenv",
	"uselocale",
	"wcrtomb",
	"wcscat",
	"wcschr",
	"wcscmp",
	"wcscpy",
	"wcslen",
	"wcsncmp",
	"wcsncpy",
	"wcsnlen",
	"wcsrchr",
	"wcsstr",
	"wctob",
	"wcwidth",
	"wmemchr",
	"wmemcmp",
	"wmemcpy",
	"wmemmove",
	"wmemset",
};

/* Of numbers; there is one of each for floats, too (sinf). */
static const char *const math[] = {
	"acos",   "acosh",     "asin",      "asinh",    "atan",      "atan2",
	"atanh",  "cbrt",      "ceil",      "copysign", "cos",       "cosh",
	"erf",    "erfc",      "exp",       "exp10",    "exp2",      "expm1",
	"fabs",   "fdim",      "finite",    "floor",    "fma",       "fmax",
	"fmin",   "fmod",      "frexp",     "hypot",    "ilogb",     "isinf",
	"isnan",  "ldexp",     "lgamma",    "llrint",   "llround",   "log",
	"log10",  "log1p",     "log2",      "logb",     "lrint",     "lround",
	"modf",   "nearbyint", "nextafter", "pow",      "remainder", "remquo",
	"rint",   "round",     "roundeven", "scalbln",  "scalbn",    "sin",
	"sincos", "sinh",      "sqrt",      "tan",      "tanh",      "tgamma",
	"trunc",
};

/* Leaves of libstdc++'s containers, which throw nothing. */
static const char *const cxx_library[] = {
	"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
	"_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
	"_ZNSt8__detail15_List_node_base10_M_reverseEv",
	"_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_",
	"_ZNSt8__detail15_List_node_base4swapERS0_S1_",
	"_ZNSt8__detail15_List_node_base7_M_hookEPS0_",
	"_ZNSt8__detail15_List_node_base9_M_unhookEv",
	"_ZSt11_Hash_bytesPKvmm",
	"_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
	"_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
	"_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
	"_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
	"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_",
	"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
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

/*
 * glibc's; musl's is libc.musl-x86_64.so.1, or libc.so. In a static program
 * their names are the C library's as well: they are reserved.
 */
bool is_c_library(const char *library)
{
	return library && (!strcmp(library, CALLABLE_LINKED_IN) ||
			   starts_with(library, "libc.so") ||
			   starts_with(library, "libc.musl") ||
			   starts_with(library, "libpthread.so"));
}

/* musl has its functions in the C library, which has some of glibc's as well. */
static bool has_math(const char *library)
{
	return is_c_library(library) ||
	       (library && starts_with(library, "libm.so"));
}

static bool is_math(const char *function)
{
	const size_t length = strlen(function);
	char name[16] = "";

	if (is_in(function, math, ARRAY_SIZE(math)))
		return true;
	if (length < 2 || length > sizeof(name) || function[length - 1] != 'f')
		return false;
	memcpy(name, function, length - 1);
	return is_in(name, math, ARRAY_SIZE(math));
}

bool is_cxx_library(const char *library)
{
	return library && starts_with(library, "libstdc++.so");
}

/*
 * operator new and delete. The latter throws nothing, but calls free(), whose
 * stack can't be walked over where a frame of the agent's is on it. Not those
 * that a program has with arguments of its own: the hook keeps no more than three.
 */
bool replaced_by_agent(const char *function)
{
	static const char *const operators[] = {
		"_ZdaPv",
		"_ZdaPvRKSt9nothrow_t",
		"_ZdaPvSt11align_val_t",
		"_ZdaPvSt11align_val_tRKSt9nothrow_t",
		"_ZdaPvm",
		"_ZdaPvmSt11align_val_t",
		"_ZdlPv",
		"_ZdlPvRKSt9nothrow_t",
		"_ZdlPvSt11align_val_t",
		"_ZdlPvSt11align_val_tRKSt9nothrow_t",
		"_ZdlPvm",
		"_ZdlPvmSt11align_val_t",
		"_Znam",
		"_ZnamRKSt9nothrow_t",
		"_ZnamSt11align_val_t",
		"_ZnamSt11align_val_tRKSt9nothrow_t",
		"_Znwm",
		"_ZnwmRKSt9nothrow_t",
		"_ZnwmSt11align_val_t",
		"_ZnwmSt11align_val_tRKSt9nothrow_t",
	};

	return is_in(function, operators, ARRAY_SIZE(operators));
}

bool watchable_by_agent(const char *function)
{
	return is_in(function, watchable, ARRAY_SIZE(watchable)) ||
	       replaced_by_agent(function);
}

bool may_not_read(const char *function)
{
	static const char *const lookers[] = {
		"access",    "fstatat", "fstatat64", "lstat",      "lstat64",
		"readlink",  "stat",    "stat64",    "strcasestr", "strcat",
		"strncat",   "strpbrk", "strspn",    "strstr",     "strtoimax",
		"strtok",    "strtol",  "strtoll",   "strtoul",    "strtoull",
		"strtoumax", "unlink",
	};

	return is_in(function, lookers, ARRAY_SIZE(lookers));
}

bool callable_by_agent(const char *function, const char *library)
{
	return is_in(function, allocators, ARRAY_SIZE(allocators)) ||
	       (is_c_library(library) &&
		is_in(function, c_library, ARRAY_SIZE(c_library))) ||
	       (has_math(library) && is_math(function)) ||
	       (is_cxx_library(library) &&
		is_in(function, cxx_library, ARRAY_SIZE(cxx_library)));
}
