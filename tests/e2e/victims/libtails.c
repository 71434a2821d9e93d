/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose last act is a jump to another one, and one that calls back. */
#include <unistd.h>

long tails_plain(long i)
{
	return i + 1;
}

long tails_read(int fd, void *buffer, unsigned long size)
{
	return read(fd, buffer, size);
}

long tails_text(const char *text, long i)
{
	return tails_plain(i + text[0]);
}

long tails_deep(long (*callback)(long), long i)
{
	return callback(i) + 1;
}
