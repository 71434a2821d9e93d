/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/prototype.h"

#include <string.h>

/*
 * What the kernel tells itself when a system call was interrupted. Programs
 * never see these, but whoever traces them does (include/linux/errno.h).
 */
static const struct {
	int error;
	const char *name;
} internal[] = {
	{ 512, "ERESTARTSYS" },
	{ 513, "ERESTARTNOINTR" },
	{ 514, "ERESTARTNOHAND" },
	{ 516, "ERESTART_RESTARTBLOCK" },
};

const char *error_name(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(internal); i++)
		if (internal[i].error == error)
			return internal[i].name;
	/* It has a name for 0, which is no error. */
	return error > 0 ? strerrorname_np(error) : NULL;
}
