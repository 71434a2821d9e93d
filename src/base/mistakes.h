/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_MISTAKES_H
#define CALLTRAP_MISTAKES_H

#include "base/diag.h"

/*
 * What is wrong in a file that a user has written: told with its place, but not
 * for each line of a file that isn't meant for us.
 */
struct mistakes {
	const char *path;
	enum diag_domain domain;
	unsigned count;
};

void mistakes_tell(struct mistakes *mistakes, unsigned line, unsigned column,
		   const char *message);

#endif
