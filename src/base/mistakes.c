/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mistakes.h"

#define TOLD_MAX 20

void mistakes_tell(struct mistakes *mistakes, unsigned line, unsigned column,
		   const char *message)
{
	if (++mistakes->count <= TOLD_MAX)
		diag(DIAG_WARNING, mistakes->domain, "%s:%u:%u: %s",
		     mistakes->path, line, column, message);
	if (mistakes->count == TOLD_MAX)
		diag(DIAG_WARNING, mistakes->domain,
		     "%s: further errors are not shown", mistakes->path);
}
