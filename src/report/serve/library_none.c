/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/library.h"

#include <stddef.h>

void *library_load(const char *name)
{
	(void)name;
	return NULL;
}

void *library_symbol(void *library, const char *name)
{
	(void)library;
	(void)name;
	return NULL;
}
