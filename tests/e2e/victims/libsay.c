/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

int say(const char *text, size_t size);

int say(const char *text, size_t size)
{
	int count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] != '\0';
	return count;
}
