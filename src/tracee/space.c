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
	space->guard = -1;
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
	guardian_drop_space(space->tracer->guardian, space->guard);
	procmem_fini(&space->memory);
	free(space);
}

int space_guard(struct space *space)
{
	int fd;

	if (space->guard_asked || !space->tracer->guardian)
		return space->guard;
	fd = procmem_fd(&space->memory);
	if (fd >= 0)
		space->guard = guardian_add_space(space->tracer->guardian, fd);
	space->guard_asked = true;
	return space->guard;
}
