/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/library.h"

#include <dlfcn.h>

void *library_load(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *library_symbol(void *library, const char *name)
{
	return dlsym(library, name);
}
