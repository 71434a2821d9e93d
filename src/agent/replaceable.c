/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/replaceable.h"

#include <stdlib.h>
#include <string.h>

#include "base/types.h"

/* Whole names. */
static const char *const functions[] = {
	"__fentry__",      "__libc_dlopen_mode",
	"__libc_dlsym",    "__morestack",
	"_mcount",         "backtrace",
	"clone",           "clone3",
	"dlmopen",         "dlopen",
	"dl_iterate_phdr", "dlsym",
	"dlvsym",          "mcount",
	"setcontext",      "vfork",
};

/*
 * Parts of names. What begins twice, or goes on with another stack, as coroutines
 * do, must find its own address; who walks over stacks begins with it. The
 * collectors of some languages look their frames up by it.
 */
static const char *const parts[] = {
	"_ULx86_64_",     "_Unwind_",    "_Ux86_64_",     "__asan_",
	"__cxa_rethrow",  "__cxa_throw", "__msan_",       "__sanitizer",
	"__tsan_",        "__ubsan_",    "caml_",         "cxt_save",
	"getcontext",     "getmcontext", "jump_fcontext", "longjmp",
	"ontop_fcontext", "savectx",     "setjmp",        "swapcontext",
	"switch_context", "unw_",        "vfork",
};

bool replaceable_by_agent(const char *function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(function, functions[i]))
			return false;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(function, parts[i]))
			return false;
	return true;
}

/* In the order of strcmp(). */
static const char *const waiting[] = {
	"__fgets_chk",
	"__fgets_unlocked_chk",
	"__fread_chk",
	"__fread_unlocked_chk",
	"__getdelim",
	"__open64_2",
	"__open_2",
	"__openat64_2",
	"__openat_2",
	"__overflow",
	"__poll_chk",
	"__ppoll_chk",
	"__pread64_chk",
	"__pread_chk",
	"__read_chk",
	"__recv_chk",
	"__recvfrom_chk",
	"__uflow",
	"accept",
	"accept4",
	"access",
	"aio_suspend",
	"chdir",
	"chmod",
	"chown",
	"clock_nanosleep",
	"close",
	"closedir",
	"connect",
	"creat",
	"creat64",
	"dup2",
	"eaccess",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"euidaccess",
	"faccessat",
	"fallocate",
	"fallocate64",
	"fchdir",
	"fchmod",
	"fchmodat",
	"fclose",
	"fcntl",
	"fcntl64",
	"fdatasync",
	"fdopen",
	"fdopendir",
	"fflush",
	"fflush_unlocked",
	"fgetc",
	"fgetc_unlocked",
	"fgets",
	"fgets_unlocked",
	"flock",
	"fopen",
	"fopen64",
	"fputc",
	"fputc_unlocked",
	"fputs",
	"fputs_unlocked",
	"fread",
	"fread_unlocked",
	"fseek",
	"fseeko",
	"fseeko64",
	"fstatat",
	"fstatat64",
	"fsync",
	"ftell",
	"ftello",
	"ftello64",
	"fwrite",
	"fwrite_unlocked",
	"getc",
	"getc_unlocked",
	"getdelim",
	"getline",
	"getrandom",
	"ioctl",
	"link",
	"lockf",
	"lockf64",
	"lstat",
	"lstat64",
	"mkdir",
	"mkdirat",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"msync",
	"nanosleep",
	"open",
	"open64",
	"openat",
	"openat64",
	"opendir",
	"pause",
	"poll",
	"posix_fallocate",
	"posix_fallocate64",
	"ppoll",
	"pread",
	"pread64",
	"preadv",
	"preadv2",
	"preadv64",
	"preadv64v2",
	"pselect",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"putc",
	"putc_unlocked",
	"putchar",
	"putchar_unlocked",
	"puts",
	"pwrite",
	"pwrite64",
	"pwritev",
	"pwritev2",
	"pwritev64",
	"pwritev64v2",
	"read",
	"readdir",
	"readdir64",
	"readlink",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"rename",
	"rewind",
	"rmdir",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"send",
	"sendfile",
	"sendfile64",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"setvbuf",
	"shutdown",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"socket",
	"socketpair",
	"splice",
	"stat",
	"stat64",
	"statx",
	"strcasestr",
	"strcat",
	"strncat",
	"strpbrk",
	"strspn",
	"strstr",
	"strtoimax",
	"strtok",
	"strtol",
	"strtoll",
	"strtoul",
	"strtoull",
	"strtoumax",
	"symlink",
	"sync_file_range",
	"syncfs",
	"tcdrain",
	"tee",
	"ungetc",
	"unlink",
	"unlinkat",
	"usleep",
	"vmsplice",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

bool waits_in_c_library(const char *function)
{
	return bsearch(function, waiting, ARRAY_SIZE(waiting), sizeof(*waiting),
		       compare_names);
}

/* In the order of strcmp(). Not what connects, which may load libraries. */
static const char *const asking[] = {
	"PQexec",
	"PQexecParams",
	"PQexecPrepared",
	"PQgetResult",
	"PQprepare",
	"PQsendPrepare",
	"PQsendQuery",
	"PQsendQueryParams",
	"PQsendQueryPrepared",
	"mariadb_stmt_execute_direct",
	"mysql_autocommit",
	"mysql_commit",
	"mysql_fetch_row",
	"mysql_next_result",
	"mysql_ping",
	"mysql_query",
	"mysql_read_query_result",
	"mysql_real_query",
	"mysql_rollback",
	"mysql_select_db",
	"mysql_send_query",
	"mysql_stmt_close",
	"mysql_stmt_execute",
	"mysql_stmt_fetch",
	"mysql_stmt_next_result",
	"mysql_stmt_prepare",
	"mysql_stmt_reset",
	"mysql_stmt_store_result",
	"mysql_store_result",
};

bool waits_for_database(const char *function, const char *library)
{
	static const char *const clients[] = {
		"libmariadb.so",
		"libmysqlclient.so",
		"libpq.so",
	};
	size_t i;

	for (i = 0; library && i < ARRAY_SIZE(clients); i++)
		if (!strncmp(library, clients[i], strlen(clients[i])))
			return bsearch(function, asking, ARRAY_SIZE(asking),
				       sizeof(*asking), compare_names);
	return false;
}

/* Those of std::string: nothing of the program's runs there but operator new. */
bool works_in_cxx_library(const char *function)
{
	static const char string[] =
		"St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";

	if (strncmp(function, "_ZN", 3))
		return false;
	function += function[3] == 'K' ? 4 : 3;
	return !strncmp(function, string, strlen(string));
}

bool cuts_stacks(const char *library)
{
	/* Python's greenlets; PyPy; Ruby's callcc; Guile before 2, Racket, Bigloo;
	   what C programs have for coroutines. */
	static const char *const libraries[] = {
		"_greenlet", "_tealet",   "continulet",  "continuation.so",
		"libaco",    "libbigloo", "libcolib",    "libguile.",
		"libpypy",   "libracket", "libstacklet",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(libraries); i++)
		if (!strncmp(library, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

/* coroutine.c's; libaco's; libco's, where several may have one stack. */
const char *const stack_cutters[STACK_CUTTERS] = {
	"_save_stack",
	"acosw",
	"coctx_swap",
};
