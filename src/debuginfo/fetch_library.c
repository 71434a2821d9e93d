/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debuginfo/fetch_library.h"

#include <dlfcn.h>
#include <stddef.h>

bool fetch_library_load(void)
{
	return dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

void *fetch_library_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}
