/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/interpreter.h"

#include <string.h>

#include "base/file.h"

static bool begins_with(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

bool interpreter_is_python(const char *path)
{
	const char *name = file_base_name(path);

	return begins_with(name, "libpython3") || begins_with(name, "python3");
}

bool interpreter_is(const char *path)
{
	const char *name = file_base_name(path);

	return interpreter_is_python(name) || begins_with(name, "libperl.so") ||
	       begins_with(name, "perl") || begins_with(name, "libruby") ||
	       begins_with(name, "php");
}
