/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/gather.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/pagemap.h"
#include "tracee/charge.h"

const char *const name_space_names[NAME_SPACES] = {
	[NS_PID] = "pid", [NS_MNT] = "mnt",       [NS_USER] = "user",
	[NS_NET] = "net", [NS_CGROUP] = "cgroup",
};

/* When its leader has ended, another thread speaks for the process. */
static pid_t spokesman(pid_t pid)
{
	pid_t live = procfs_live_task(pid);

	return live ? live : pid;
}

static bool is_space_limited(pid_t pid)
{
	struct procfs_limits limits;

	return !procfs_limits(pid, &limits) &&
	       limits.address_space != UINT64_MAX;
}

static void read_status(struct process_facts *facts)
{
	struct procfs_status tracer;

	facts->error = procfs_status(facts->pid, &facts->status);
	if (facts->error)
		return;
	memcpy(facts->name, facts->status.name, sizeof(facts->name));
	if (facts->live != facts->pid && facts->status.tgid == facts->pid)
		facts->error = procfs_status(facts->live, &facts->status);
	facts->kernel_thread = !facts->status.has_memory &&
			       procfs_is_kernel_thread(facts->pid);
	/* The kernel names the thread that traces. */
	if (!facts->status.tracer ||
	    procfs_status(facts->status.tracer, &tracer))
		return;
	facts->status.tracer = tracer.tgid;
	memcpy(facts->tracer_name, tracer.name, sizeof(facts->tracer_name));
}

/* To open it takes the right to attach; its owner tells of dumpable. */
static void read_access(struct process_facts *facts)
{
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)facts->live);
	facts->undumpable = !stat(path, &st) &&
			    st.st_uid != facts->status.uids[1];
	fd = open(path, O_RDWR | O_CLOEXEC);
	facts->access = fd >= 0                           ? 0 :
			errno == ENOENT || errno == ESRCH ? -ERR_GONE :
							    -errno;
	if (fd >= 0)
		close(fd);
}

static int is_foreign(pid_t pid, const char *name)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	if (stat(path, &other))
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &own))
		return -errno;
	return own.st_dev != other.st_dev || own.st_ino != other.st_ino;
}

static void read_memory(struct process_facts *facts)
{
	struct pagemap map;

	facts->has_vitals = !vitals_read("", facts->live, &facts->vitals);
	if (facts->has_vitals)
		facts->spare = charge_spare(&facts->vitals);
	facts->pagemap_error = pagemap_open(&map, facts->live);
	if (!facts->pagemap_error)
		pagemap_close(&map);
}

void process_facts_gather(pid_t pid, struct process_facts *ret)
{
	*ret = (struct process_facts){ .pid = pid, .live = spokesman(pid) };
	read_status(ret);
	if (ret->error || ret->status.tgid != pid || !ret->status.has_memory)
		return;
	read_access(ret);
	for (unsigned i = 0; i < NAME_SPACES; i++)
		ret->foreign[i] = is_foreign(ret->live, name_space_names[i]);
	ret->frozen = freezer_has_frozen("", ret->live);
	ret->space_limited = is_space_limited(pid);
	read_memory(ret);
	modules_gather(ret);
}

void process_facts_fini(struct process_facts *facts)
{
	for (size_t i = 0; i < facts->module_count; i++) {
		free(facts->modules[i].path);
		free(facts->modules[i].build_id);
	}
	free(facts->modules);
	*facts = (struct process_facts){ 0 };
}
