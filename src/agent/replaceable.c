/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/replaceable.h"

#include <stddef.h>
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
