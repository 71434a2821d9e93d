/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/signal_bit.h"
#include "base/xalloc.h"
#include "sysdeps/linux/freezer.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/procmem.h"
#include "sysdeps/linux/ptrace.h"
#include "sysdeps/linux/rseq.h"
#include "sysdeps/linux/smaps.h"
#include "sysdeps/linux/stand_apart.h"
#include "sysdeps/linux/vitals.h"
#include "sysdeps/syscall_maker.h"

/* ---- whether it may be ---- */

static bool is_promised_strictly(void)
{
	FILE *file CLEANUP(file_close_cleanup) =
		fopen("/proc/sys/vm/overcommit_memory", "re");

	return file && fgetc(file) == '2';
}

/*
 * All pages that the process writes while there are two of it must be had
 * twice. Whether it is killed for that nobody can take back, so there must be
 * room for all it has, and as much again is left to others.
 */
static const char *lacks_room(pid_t pid)
{
	struct vitals vitals;
	uint64_t most;

	if (vitals_read("", pid, &vitals))
		return "it has ended";
	most = vitals.resident_bytes + vitals.resident_bytes / 8;
	if (vitals.room_bytes != UINT64_MAX && vitals.room_bytes / 2 < most)
		return "its cgroup has too little room";
	if (vitals_available_bytes("") / 2 < most)
		return "this machine has too little free memory";
	if (is_promised_strictly())
		return "this machine promises no more memory than it has";
	return NULL;
}

/*
 * Cryptographic libraries and calltrap's agent have a page or two that are wiped,
 * to know that there was a fork: no more than a mark lies there.
 */
#define MARKS_MAX (16u << 10)

static bool matters(const struct smaps_row *row)
{
	const uint64_t there = row->resident + row->swapped;

	if (!row->mapping.writable || row->mapping.shared)
		return false;
	return row->dont_fork ? there : row->wipe_on_fork && there > MARKS_MAX;
}

/* Blocks that only such memory holds would look lost in the copy. */
static bool has_memory_apart(pid_t pid)
{
	struct smaps *smaps = smaps_open(pid);
	struct smaps_row row;
	bool found = false;

	while (smaps && !found && smaps_next(smaps, &row))
		found = matters(&row);
	smaps_close(smaps);
	return found;
}

/* Else the copy would be the first process of another one, and end it. */
static bool has_other_namespace(pid_t pid)
{
	char path[PROCFS_PATH_ROOM];
	struct stat own, children;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &own))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid_for_children", (int)pid);
	return stat(path, &children) || own.st_ino != children.st_ino;
}

static taddr_t find_from(struct memory *memory, taddr_t vdso)
{
	const size_t wanted = arch_syscall_maker.size;
	uint8_t code[16384];
	const size_t size = memory_read_some(memory, vdso, code, sizeof(code));

	for (size_t at = 0; at + wanted <= size; at += arch_syscall_maker.align)
		if (!memcmp(code + at, arch_syscall_maker.code, wanted))
			return vdso + at;
	return 0;
}

/* The vDSO has one that it falls back to. */
static taddr_t find_instruction(const struct mappings *mappings)
{
	struct procmem memory;
	taddr_t found = 0;

	procmem_init(&memory, mappings->pid);
	for (size_t i = 0; i < mappings->count && !found; i++) {
		const struct mapping *mapping = &mappings->list[i];

		if (!mapping->inode && mapping->executable &&
		    !strcmp(mapping->path, "[vdso]"))
			found = find_from(&memory.memory, mapping->start);
	}
	procmem_fini(&memory);
	return found;
}

/*
 * Of the program that the process runs now: each has its vDSO elsewhere. It must
 * be frozen, or it runs another one as soon as this has been asked.
 */
static bool find_again(struct copy *copy, pid_t pid)
{
	struct procmem memory;
	uint64_t vdso;

	if (!procfs_auxv(pid, sizeof(long), AT_SYSINFO_EHDR, &vdso))
		return false;
	procmem_init(&memory, pid);
	copy->instruction = find_from(&memory.memory, vdso);
	procmem_fini(&memory);
	return copy->instruction;
}

const char *copy_refuse(pid_t pid, const struct mappings *mappings,
			struct copy *ret)
{
	struct procfs_status status;

	*ret = (struct copy){ .pid = 0 };
	if (!arch_syscall_maker.size)
		return "calltrap can't do that on this kind of processor";
	if (procfs_status(pid, &status))
		return "it has ended";
	if (freezer_has_frozen("", pid))
		return "it is frozen (by its cgroup)";
	if (status.seccomp)
		return "seccomp limits its system calls";
	if (status.signals_ignored & SIGNAL_BIT(SIGTRAP))
		return "it ignores SIGTRAP";
	/* Who watches page faults is asked about forks, and may not answer. */
	if (procfs_has_userfaultfd(pid))
		return "it has a userfaultfd";
	if (has_other_namespace(pid))
		return "its children have process numbers of their own";
	if (has_memory_apart(pid))
		return "some of its memory is not for children (MADV_DONTFORK, "
		       "MADV_WIPEONFORK)";
	ret->instruction = find_instruction(mappings);
	if (!ret->instruction)
		return "it has no vDSO with a system call";
	return lacks_room(pid);
}

/* ---- system calls in its name ---- */

static bool is_in_sequence(const struct frozen_task *task)
{
	return !arch_syscall_maker.is_in_call(&task->regs) &&
	       rseq_is_entered(task->tid);
}

/*
 * A step ends with a SIGTRAP that can't be held back: where that is blocked or ignored,
 * the kernel takes the process's handler of it away. Where there is none, nothing is lost
 * but a SIGTRAP of its own that has come: there is never more than one.
 */
static bool may_step(const struct frozen_task *task)
{
	struct procfs_status status;
	uint64_t mask;

	if (ptrace_get_signal_mask(task->tid, &mask))
		return false;
	if (!(mask & SIGNAL_BIT(SIGTRAP)))
		return true;
	return !procfs_status(task->tid, &status) &&
	       !((status.signals_caught | status.signals_ignored |
		  status.signals_pending) &
		 SIGNAL_BIT(SIGTRAP));
}

/* One that stands at nothing else than our own request, and can go on. */
static struct frozen_task *free_task(const struct freeze *freeze)
{
	for (size_t i = 0; i < freeze->count; i++) {
		struct frozen_task *task = &freeze->tasks[i];

		if (task->tid && task->stopped && task->known &&
		    task->stop.kind == STOP_INTERRUPT &&
		    arch_of_regs(&task->regs) == arch_native &&
		    arch_syscall_maker.goes_on(&task->regs) &&
		    !is_in_sequence(task) && may_step(task))
			return task;
	}
	return NULL;
}

static struct stop step(pid_t tid)
{
	int status;

	if (ptrace_step(tid, 0) || waitpid(tid, &status, __WALL) != tid)
		return (struct stop){ .kind = STOP_EXITED };
	return stop_classify(status);
}

/*
 * child_ret: our number of the child that it made. What else has come is the
 * task's stop then, and will be its own when it is let go.
 */
static int run_call(struct frozen_task *task, taddr_t behind, pid_t *child_ret,
		    int64_t *result_ret)
{
	struct stop stop = step(task->tid);
	unsigned long child;
	struct regs after;

	if (stop.kind == STOP_CLONE) {
		if (!ptrace_get_event_message(task->tid, &child))
			*child_ret = (pid_t)child;
		stop = step(task->tid);
	}
	if (stop.kind == STOP_TRAP && !ptrace_get_regs(task->tid, &after) &&
	    arch_native->ip(&after) == behind) {
		*result_ret = (int64_t)arch_native->result(&after);
		return 0;
	}
	task->stop = stop;
	return -EINTR;
}

/* All that it changes in the task is put back. */
static int call(struct frozen_task *task, taddr_t instruction, long number,
		const uint64_t arguments[4], int64_t *result_ret,
		pid_t *child_ret)
{
	struct regs regs = task->regs;
	uint64_t mask;
	int err;

	arch_syscall_maker.prepare(&regs, instruction, (uint64_t)number,
				   arguments);
	if (ptrace_get_signal_mask(task->tid, &mask) ||
	    ptrace_set_signal_mask(task->tid, mask | ~SIGNALS_OF_INSTRUCTIONS))
		return -ERR_GONE;
	err = ptrace_set_regs(task->tid, &regs);
	if (!err)
		err = run_call(task, instruction + arch_syscall_maker.size,
			       child_ret, result_ret);
	if (task->stop.kind == STOP_EXITED || task->stop.kind == STOP_KILLED) {
		task->tid = 0;
		return -ERR_GONE;
	}
	if (ptrace_set_regs(task->tid, &task->regs))
		err = -ERR_GONE;
	(void)ptrace_set_signal_mask(task->tid, mask);
	return err;
}

/* ---- the copy ---- */

/* When memory runs out after all, it goes first. */
static void offer_to_killer(pid_t pid)
{
	char path[PROCFS_PATH_ROOM];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	file = fopen(path, "we");
	if (!file)
		return;
	fputs("1000", file);
	fclose(file);
}

/* clone() takes 0 for its caller's own, and arm64 no other multiple of 8. */
#define NO_STACK 16

static void hold(pid_t child)
{
	int status;

	/* Its first stop: it has run no instruction. */
	if (waitpid(child, &status, __WALL) == child)
		(void)ptrace_set_options(child, PTRACE_O_EXITKILL);
	offer_to_killer(child);
}

/*
 * Descriptors are shared, so that it keeps none open that the process closes.
 * It has no stack: should it ever run, it gets nowhere. Nobody hears of its
 * end.
 */
static bool make(struct copy *copy, const struct freeze *freeze)
{
	const uint64_t arguments[4] = { CLONE_FILES, NO_STACK, 0, 0 };
	struct frozen_task *task = free_task(freeze);
	struct procfs_status status;
	int64_t result;

	if (!task || ptrace_set_options(task->tid, PTRACE_O_TRACECLONE))
		return false;
	(void)call(task, copy->instruction, SYS_clone, arguments, &result,
		   &copy->pid);
	if (task->tid)
		(void)ptrace_set_options(task->tid, 0);
	if (!copy->pid)
		return false;
	hold(copy->pid);
	copy->own_pid = procfs_status(copy->pid, &status) ? 0 : status.own_pid;
	return true;
}

/* ---- its end ---- */

struct end {
	uint64_t pause_ns; /* the longest */
	bool reaped;
};

/* Signals that are on their way may come first. */
#define ATTEMPTS 50

static bool reap(const struct copy *copy, const struct freeze *freeze)
{
	const uint64_t arguments[4] = { (uint64_t)copy->own_pid, 0,
					WNOHANG | __WALL, 0 };
	struct frozen_task *task = free_task(freeze);
	pid_t none = 0;
	int64_t result;

	/* -ECHILD: it has waited for all that it finds. */
	return task &&
	       !call(task, copy->instruction, SYS_wait4, arguments, &result,
		     &none) &&
	       (result == copy->own_pid || result == -ECHILD);
}

static bool reap_once(struct copy *copy, pid_t pid, uint64_t *pause_ret)
{
	char *message CLEANUP(xfree_cleanup) = NULL;
	struct freeze freeze;
	bool reaped;

	if (freeze_begin(pid, &freeze, &message))
		return !procfs_is_alive(pid);
	reaped = find_again(copy, pid) && reap(copy, &freeze);
	*pause_ret = freeze_end(&freeze);
	freeze_fini(&freeze);
	return reaped;
}

static struct end end_copy(struct copy *copy, pid_t pid)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	struct end end = { .reaped = false };
	int status;

	(void)kill(copy->pid, SIGKILL);
	while (waitpid(copy->pid, &status, __WALL) == copy->pid &&
	       !WIFSIGNALED(status) && !WIFEXITED(status))
		;
	for (unsigned i = 0; copy->own_pid > 0 && i < ATTEMPTS && !end.reaped;
	     i++) {
		uint64_t pause = 0;

		if (i)
			nanosleep(&moment, NULL);
		end.reaped = reap_once(copy, pid, &pause);
		if (pause > end.pause_ns)
			end.pause_ns = pause;
	}
	return end;
}

/* ---- who makes, holds and ends it ---- */

struct copy_begun {
	pid_t pid;
	uint64_t pause_ns;
	uint64_t count; /* of tasks, which follow */
};

static bool write_all(int fd, const void *bytes, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, bytes, size);

		if (n <= 0)
			return false;
		bytes = (const uint8_t *)bytes + n;
		size -= (size_t)n;
	}
	return true;
}

#define PATIENCE_MS 10000

/*
 * A process that is frozen by its cgroup in the midst of a call ends it when it
 * is thawed: nobody knows when. Its helper stays with it, and is waited for no
 * more.
 */
static bool hears_from_helper(struct copy *copy)
{
	struct pollfd from = { .fd = copy->from, .events = POLLIN };

	if (poll(&from, 1, PATIENCE_MS) > 0)
		return true;
	copy->helper = 0;
	return false;
}

static bool read_all(struct copy *copy, void *ret, size_t size)
{
	while (size) {
		ssize_t n;

		if (!hears_from_helper(copy))
			return false;
		n = read(copy->from, ret, size);
		if (n <= 0)
			return false;
		ret = (uint8_t *)ret + n;
		size -= (size_t)n;
	}
	return true;
}

static bool begin(struct copy *copy, pid_t pid, int to)
{
	char *message CLEANUP(xfree_cleanup) = NULL;
	struct copy_begun begun = { .pid = 0 };
	struct freeze freeze;
	bool told;

	if (freeze_begin(pid, &freeze, &message))
		return false;
	if (find_again(copy, pid) && make(copy, &freeze))
		begun.pid = copy->pid;
	begun.pause_ns = freeze_end(&freeze);
	begun.count = freeze.count;
	told = write_all(to, &begun, sizeof(begun)) &&
	       write_all(to, freeze.tasks,
			 freeze.count * sizeof(*freeze.tasks));
	freeze_fini(&freeze);
	return told || begun.pid;
}

/* Nobody reads any more: calltrap was killed, and there is more to be done. */
static void help(struct copy *copy, pid_t pid, int from, int to)
{
	struct end end;
	char byte;

	signal(SIGPIPE, SIG_IGN);
	stand_apart(FREEZE_COPIER);
	if (!begin(copy, pid, to) || !copy->pid)
		return;
	while (read(from, &byte, 1) < 0 && errno == EINTR)
		;
	end = end_copy(copy, pid);
	(void)write_all(to, &end, sizeof(end));
}

static int start_helper(struct copy *copy, pid_t pid)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC))
		return -errno;
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return -EMFILE;
	}
	copy->helper = fork();
	if (!copy->helper) {
		close(to[1]);
		close(from[0]);
		help(copy, pid, to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	copy->to = to[1];
	copy->from = from[0];
	return 0;
}

static void dismiss(struct copy *copy)
{
	int status;

	close(copy->to);
	close(copy->from);
	if (copy->helper > 0)
		(void)waitpid(copy->helper, &status, 0);
}

static bool take_tasks(struct copy *copy, uint64_t count, struct freeze *ret)
{
	*ret = (struct freeze){ .count = count, .room = count };
	ret->tasks = xcalloc(count + 1, sizeof(*ret->tasks));
	if (read_all(copy, ret->tasks, count * sizeof(*ret->tasks)))
		return true;
	freeze_fini(ret);
	return false;
}

int copy_begin(struct copy *copy, pid_t pid, struct freeze *ret,
	       uint64_t *pause_ret)
{
	struct copy_begun begun;
	int err = start_helper(copy, pid);

	if (err)
		return err;
	if (read_all(copy, &begun, sizeof(begun)) &&
	    take_tasks(copy, begun.count, ret)) {
		copy->pid = begun.pid;
		*pause_ret = begun.pause_ns;
		if (begun.pid)
			return 0;
		freeze_fini(ret);
	}
	dismiss(copy);
	return -EAGAIN;
}

uint64_t copy_end(struct copy *copy, bool *reaped_ret)
{
	struct end end = { .reaped = false };

	if (write_all(copy->to, "", 1))
		(void)read_all(copy, &end, sizeof(end));
	dismiss(copy);
	*reaped_ret = end.reaped;
	return end.pause_ns;
}
