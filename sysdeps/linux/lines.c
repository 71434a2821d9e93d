/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/lines.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool lines_open(struct lines *lines, const char *path)
{
	lines->at = lines->text;
	lines->left = 0;
	lines->fd = open(path, O_RDONLY | O_CLOEXEC);
	return lines->fd >= 0;
}

void lines_close(struct lines *lines)
{
	close(lines->fd);
}

static bool read_more(struct lines *lines)
{
	const size_t most = sizeof(lines->text) - 1;
	ssize_t n;

	memmove(lines->text, lines->at, lines->left);
	lines->at = lines->text;
	if (lines->left == most)
		return false;
	n = read(lines->fd, lines->text + lines->left, most - lines->left);
	if (n <= 0)
		return false;
	lines->left += n;
	return true;
}

char *lines_next(struct lines *lines)
{
	char *end, *line;

	do
		end = memchr(lines->at, '\n', lines->left);
	while (!end && read_more(lines));
	if (!lines->left)
		return NULL;
	line = lines->at;
	lines->at = end ? end + 1 : line + lines->left;
	lines->left -= lines->at - line;
	*(end ? end : lines->at) = '\0';
	return line;
}
