/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/space.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "tracee/tracer.h"

struct space *space_new(struct tracer *tracer, pid_t pid)
{
	struct space *space = xcalloc(1, sizeof(*space));

	space->tracer = tracer;
	space->references = 1;
	space->arch = &arch_x86_64;
	procmem_init(&space->memory, pid);
	tracer->client->ops->space_begin(tracer->client, space);
	return space;
}

struct space *space_get(struct space *space)
{
	space->references++;
	return space;
}

void space_put(struct space *space)
{
	if (--space->references)
		return;
	space->tracer->client->ops->space_end(space->tracer->client, space);
	scratch_free(space);
	trap_free_all(space);
	module_free_all(space);
	procmem_fini(&space->memory);
	free(space);
}
