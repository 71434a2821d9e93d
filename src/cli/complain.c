/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

int complain(int err, const char *format, ...)
{
	char *message;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		fatal("out of memory (formatting a message)");
	va_end(args);
	for (char *s = message; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	fprintf(stderr, "calltrap: %s\n", message);
	free(message);
	return err;
}
