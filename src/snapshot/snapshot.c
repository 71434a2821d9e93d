/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tracee/attach.h"

/* Of another allocator, the mappings are all there is. */
static int take_view(pid_t pid, struct snapshot *ret, char **message_ret)
{
	free(*message_ret);
	*message_ret = NULL;
	return memory_view_read(pid, 0, false, &ret->view, message_ret);
}

static int take_blocks(pid_t pid, struct snapshot *ret, char **message_ret)
{
	int err;

	owners_find(&ret->leaks, &ret->owners);
	ret->names = block_names_new(&ret->leaks);
	err = memory_view_around(pid, &ret->leaks.glibc, &ret->leaks.mappings,
				 ret->leaks.copied, &ret->view);
	if (!err) {
		ret->has_blocks = ret->has_graph = true;
		return 0;
	}
	*message_ret = attach_explain(pid, err);
	block_names_free(ret->names);
	owners_fini(&ret->owners);
	leaks_fini(&ret->leaks);
	return err;
}

static int take(pid_t pid, bool copy, struct snapshot *ret, char **message_ret)
{
	const struct leaks_options how = { .ways = true,
					   .objects = true,
					   .copy = copy };
	int err;

	*ret = (struct snapshot){ .wall = clock_wall(clock_now()) };
	err = leaks_find(pid, &how, &ret->leaks, message_ret);
	if (err == -ENOENT)
		return take_view(pid, ret, message_ret);
	return err ? err : take_blocks(pid, ret, message_ret);
}

int snapshot_take(pid_t pid, uint64_t touched, bool copy, struct snapshot *ret,
		  char **message_ret)
{
	struct touched use = { .wait_ns = 0 };
	int err = 0;

	/* First, as what we read counts as touched, too. */
	if (touched)
		err = touched_watch(pid, touched, &use);
	if (err)
		*message_ret = attach_explain(pid, err);
	else
		err = take(pid, copy, ret, message_ret);
	if (err)
		touched_fini(&use);
	else
		ret->view.touched = use;
	return err;
}

void snapshot_fini(struct snapshot *snapshot)
{
	if (snapshot->has_blocks)
		memory_view_leave_heap(&snapshot->view);
	memory_view_fini(&snapshot->view);
	block_names_free(snapshot->names);
	owners_fini(&snapshot->owners);
	leaks_fini(&snapshot->leaks);
	*snapshot = (struct snapshot){ .names = NULL };
}
