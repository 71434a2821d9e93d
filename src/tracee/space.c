/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/xalloc.h"
#include "sysdeps/linux/descriptors.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/tracer.h"

struct space *space_new(struct tracer *tracer, pid_t pid)
{
	struct space *space = xcalloc(1, sizeof(*space));

	space->tracer = tracer;
	space->references = 1;
	space->arch = arch_native;
	space->guard = -1;
	space->awaited_note = -1;
	procmem_init(&space->memory, pid);
	tracer->client->ops->space_begin(tracer->client, space);
	return space;
}

int space_bind(struct space *space)
{
	struct procmem *memory = &space->memory;
	int err;

	space->mark_size = procfs_auxv_bytes(memory->pid, space->mark,
					     sizeof(space->mark));
	err = procmem_open(memory);
	if (!err && descriptor_is_scarce(procmem_fd(memory)))
		err = -EMFILE;
	if (err)
		procmem_fini(memory);
	return err;
}

void space_clean_after_exec(struct space *space)
{
	if (space->references > 1 || procmem_is_gone(&space->memory))
		return;
	trap_lift_all(space);
	scratch_restore(space);
}

struct space *space_get(struct space *space)
{
	space->references++;
	return space;
}

void space_use_task(struct space *space, pid_t tid)
{
	procmem_set_pid(&space->memory, tid);
}

static bool has_memory(pid_t tid)
{
	struct procfs_status status;

	return !procfs_status(tid, &status) && status.has_memory;
}

/*
 * One with memory: a leader that has ended is ours until its last thread has.
 * While it lives it is asked: any other thread may end at the next moment.
 */
static bool use_one_of(struct space *space, const struct tracee *tracee)
{
	const struct task *task;

	if (has_memory(tracee->pid)) {
		space_use_task(space, tracee->pid);
		return true;
	}
	for_each_task_of(tracee, task) {
		if (has_memory(task->tid)) {
			space_use_task(space, task->tid);
			return true;
		}
	}
	return false;
}

static bool use_one_who(struct space *space, bool borrows)
{
	struct tracee *tracee, *next;

	HASH_ITER(hh, space->tracer->tracees, tracee, next)
		if (tracee->space == space && tracee->borrows == borrows &&
		    use_one_of(space, tracee))
			return true;
	return false;
}

/* Without one the old stays: an open /proc/PID/mem is good all the same. */
static void find_task(struct space *space)
{
	if (!use_one_who(space, false))
		(void)use_one_who(space, true);
}

static bool find_another(struct space *space)
{
	pid_t old = space->memory.pid;

	find_task(space);
	return space->memory.pid != old;
}

bool space_is_left(struct space *space)
{
	uint8_t mark[SPACE_MARK];
	size_t size;

	/* A task that has ended has none, and its end isn't seen yet. */
	do {
		size = procfs_auxv_bytes(space->memory.pid, mark, sizeof(mark));
	} while (!size && find_another(space));
	return size != space->mark_size || memcmp(mark, space->mark, size);
}

void space_lose_task(struct space *space, pid_t tid)
{
	if (space->memory.pid == tid)
		find_task(space);
}

void space_await(struct space *space, taddr_t word)
{
	struct guardian *guardian = space->tracer->guardian;

	guardian_unnote(guardian, space->awaited_note);
	space->awaited = word;
	space->awaited_note =
		guardian_note_awaited(guardian, space_guard(space), word);
}

void space_await_none(struct space *space)
{
	struct procmem *memory = &space->memory;
	const uint64_t none = 0;

	/* A child that hasn't run yet isn't bound. */
	if (!space->awaited || (space->mark_size && space_is_left(space)))
		return;
	if (procmem_is_open(memory) ?
		    procmem_write_code(memory, space->awaited, &none,
				       sizeof(none)) :
		    memory_write(&memory->memory, space->awaited, &none,
				 sizeof(none)))
		diag_debug(DIAG_TRAP, "process %d can't be told: no traps",
			   (int)space->memory.pid);
	space->awaited = 0;
}

void space_put(struct space *space)
{
	if (--space->references) {
		/* A process that had it may run another program by now. */
		find_task(space);
		return;
	}
	space->tracer->client->ops->space_end(space->tracer->client, space);
	space_await_none(space);
	guardian_unnote(space->tracer->guardian, space->awaited_note);
	scratch_free(space);
	trap_free_all(space);
	charge_free(&space->charge);
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
		space->guard = guardian_add_space(space->tracer->guardian,
						  space->memory.pid, fd);
	space->guard_asked = true;
	return space->guard;
}
