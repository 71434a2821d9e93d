/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PREPARED_FILES_H
#define PREPARED_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "unit.h"

/* Files below a folder of their own, as kernels other than this one's have
   them in /proc and /sys. */

static char *root;

static void put(const char *path, const char *text)
{
	char *whole = xasprintf("%s%s", root, path);
	FILE *file;

	for (char *s = whole + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		(void)mkdir(whole, 0700);
		*s = '/';
	}
	file = fopen(whole, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	free(whole);
}

static void prepare_files(void)
{
	char name[] = "/tmp/prepared_files.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(name));
	root = xstrdup(name);
}

static void remove_files(void)
{
	char *command = xasprintf("rm -r '%s'", root);

	ck_assert_int_eq(system(command), 0);
	free(command);
	free(root);
}

#endif
