/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"

int complain(int err, const char *format, ...)
{
	char *message;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		fatal("out of memory (formatting a message)");
	va_end(args);
	printable_make(message, strlen(message));
	fprintf(stderr, "calltrap: %s\n", message);
	free(message);
	return err;
}
