/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file.h"

#include <string.h>

const char *file_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

void file_close_cleanup(FILE **file)
{
	if (*file)
		fclose(*file);
}
