/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROCFS_H
#define CALLTRAP_PROCFS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/types.h"

struct lines;

/* What /proc/PID says. Formats: proc(5). */

/* /proc/PID/status, the lines that a tracer cares about. */
struct procfs_status {
	char name[64];
	char state; /* R S D T t Z X I */
	pid_t tgid;
	pid_t own_pid;           /* the number that the process itself sees */
	pid_t tracer;            /* 0 = nobody */
	uid_t uids[4];           /* real, effective, saved, filesystem */
	gid_t gids[4];           /* the same */
	uint64_t caps_permitted; /* bit N is capability N (<linux/capability.h>) */
	uint64_t caps_effective;
	bool has_memory;   /* a kernel thread has none (no VmSize line) */
	uint64_t locked;   /* bytes that must be resident (mlock, mlockall) */
	bool shadow_stack; /* what calls push and returns pop is kept twice */
	uint64_t pointer_tags; /* bits of pointers that the processor leaves out;
				  0 before Linux 6.4 */
	unsigned seccomp;      /* 0 off, 1 strict, 2 filter */
	uint64_t signals_blocked; /* bit N - 1 is signal N */
	uint64_t signals_ignored;
	uint64_t signals_caught;
	uint64_t signals_pending;        /* of this task alone */
	uint64_t signals_pending_shared; /* of its process */
	uint64_t waits; /* so often it has slept (voluntary_ctxt_switches) */
};

/* -ERR_GONE when there is no such task. */
int procfs_status(pid_t pid, struct procfs_status *ret) MUST_CHECK;

/* The same from the lines of a status file. */
void procfs_status_parse(struct lines *lines, struct procfs_status *ret);

/* /proc/PID/limits; UINT64_MAX = unlimited. */
struct procfs_limits {
	uint64_t file_size;
	uint64_t address_space;
};

/* Also of processes whose limits prlimit() keeps to itself: another user's, for
   root without CAP_SYS_RESOURCE. Returns a negative errno. */
int procfs_limits(pid_t pid, struct procfs_limits *ret) MUST_CHECK;

/* One line of /proc/PID/maps. */
struct procfs_mapping {
	taddr_t start;
	taddr_t end;
	bool readable;
	bool writable;
	bool executable;
	bool shared;
	uint64_t offset;
	unsigned device_major;
	unsigned device_minor;
	uint64_t inode;
	char path[4096]; /* "" when anonymous; newlines as \012 */
};

/* What a line of that file says; false for another one (those of smaps). */
bool procfs_mapping_parse(const char *line, struct procfs_mapping *ret);

/* Iterates; NULL when the process is gone. */
FILE *procfs_maps_open(pid_t pid);
bool procfs_maps_next(FILE *maps, struct procfs_mapping *ret);

/* An address of its program's code, from before ld.so has run. */
bool procfs_start_of_code(pid_t pid, taddr_t *ret);

/* Where its heap, which brk() enlarges, begins; it need not be there yet. */
bool procfs_start_of_heap(pid_t pid, taddr_t *ret);

/* What has no memory is one, or it is just ending. */
bool procfs_is_kernel_thread(pid_t pid);
bool procfs_parse_kernel_thread(char *stat); /* for tests */

/* Its state alone, without allocation; 0 when there is no such task. */
char procfs_state(pid_t tid);

/* Whether its system calls are filtered (seccomp), without allocation. */
bool procfs_is_filtered(pid_t tid);

/* Who traces it, without allocation; 0 = nobody. */
pid_t procfs_tracer(pid_t tid);

/*
 * Whether a signal that the task doesn't block waits for it or its process, but
 * for those of a mask (bit N - 1 is signal N), as far as can be told: true if
 * not. Without allocation.
 */
bool procfs_signal_waits(pid_t tid, uint64_t except);

/* Whether a uprobe has ever been hit in it: the kernel maps a page for that. */
bool procfs_has_uprobes(pid_t pid);

/* The mapping that holds an address. */
bool procfs_find_mapping(pid_t pid, taddr_t address,
			 struct procfs_mapping *ret);

/*
 * All mappings as they are at one time, for who looks up many addresses. The
 * reading is NULL when the process is gone.
 */
struct procfs_maps;

struct procfs_maps *procfs_maps_read(pid_t pid);
void procfs_maps_free(struct procfs_maps *maps);
bool procfs_maps_find(const struct procfs_maps *maps, taddr_t address,
		      struct procfs_mapping *ret);

/* Whether there is such a task, and it has not ended (a zombie has). */
bool procfs_is_alive(pid_t tid);

/*
 * A task of a process that has not ended: the leader, if possible, else one
 * that goes on after the leader's pthread_exit(). 0 when all have ended.
 */
pid_t procfs_live_task(pid_t pid);

/* The tasks of a process; the array is to be freed. -ERR_GONE. */
int procfs_tasks(pid_t pid, pid_t **ret, size_t *count_ret) MUST_CHECK;

/* Its descriptors, likewise. */
int procfs_descriptors(pid_t pid, int **ret, size_t *count_ret) MUST_CHECK;

/* Whether one of these serves page faults; true when that can't be known. */
bool procfs_has_userfaultfd(pid_t pid);

/*
 * The auxiliary vector as it is; returns its bytes, 0 when there is none (yet).
 * It lies with the address space: while a process runs another program, it
 * changes before anything of that can run.
 */
size_t procfs_auxv_bytes(pid_t pid, void *ret, size_t size);

/* A value of the auxiliary vector (<elf.h>, AT_*); false when it's not there. */
bool procfs_auxv(pid_t pid, unsigned word_size, uint64_t type, uint64_t *ret);

/* The path that /proc/PID/exe names, to be freed; NULL when unreadable. */
char *procfs_exe(pid_t pid);

/* Room for any path below that is made here. */
#define PROCFS_PATH_ROOM 128

/* "/proc/PID/root": the file system as the process sees it. */
void procfs_root(pid_t pid, char ret[PROCFS_PATH_ROOM]);

/*
 * The file of a mapping, opened for reading: needs a capability, but reaches
 * files that have no name any more. A negative errno; -ERR_GONE.
 */
int procfs_open_mapped(pid_t pid, const struct procfs_mapping *mapping);

/* "/proc/PID/exe" leads to its program, also to one that was deleted. */
void procfs_exe_link(pid_t pid, char ret[PROCFS_PATH_ROOM]);
int procfs_open_exe(pid_t pid);
/* Of what the kernel knows of it already: no file system is asked. */
bool procfs_exe_mode(pid_t pid, unsigned *ret);

/* All processes there are; the array is to be freed. A negative errno. */
int procfs_processes(pid_t **ret, size_t *count_ret) MUST_CHECK;

/* Yama's ptrace_scope; -1 where there is none. */
int procfs_ptrace_scope(void);

/* How many mappings a process may have; SIZE_MAX where that isn't known. */
size_t procfs_max_mappings(void);

/* What a task calls itself (proc(5), comm); "" when it is gone. */
#define PROCFS_COMM_ROOM 16

void procfs_comm(pid_t tid, char ret[PROCFS_COMM_ROOM]);

/*
 * Where a task is (/proc/TID/syscall). It is told of those that aren't running
 * alone; one of which nothing can be read may be anywhere, too.
 */
enum procfs_place {
	PROCFS_ANYWHERE,
	PROCFS_OUTSIDE, /* of system calls: it waits for a page, or is stopped */
	PROCFS_IN_CALL,
};

/* In a call, its number and the instruction pointer in user space are set. */
enum procfs_place procfs_place(pid_t tid, long *number_ret, taddr_t *ip_ret);
enum procfs_place procfs_place_parse(const char *line, long *number_ret,
				     taddr_t *ip_ret);

/* How long a task has run, in clock ticks: in its program, and in the kernel for it. */
struct procfs_times {
	uint64_t user, system;
};

bool procfs_times(pid_t tid, struct procfs_times *ret);
/* The same from a stat file's line, whose name may hold anything. */
bool procfs_times_parse(const char *line, struct procfs_times *ret);

/* Whether it is PROCFS_IN_CALL. */
bool procfs_blocked_in_syscall(pid_t tid, long *number_ret, taddr_t *ip_ret);

/* Whether two tasks share one address space. Negative: can't be told. */
int procfs_same_space(pid_t a, pid_t b);

/* Whether a child that this very thread has made does. Negative likewise. */
int procfs_shares_with_child(pid_t tid);

/* Calls visit for each child that this very thread has made; without allocation. */
typedef void procfs_child_visitor(void *context, pid_t child);
void procfs_visit_children(pid_t tid, procfs_child_visitor *visit,
			   void *context);

/*
 * How a task has got on with its processor (/proc/TID/schedstat); 0 stands for
 * the thread that asks. False where the kernel doesn't count that.
 */
struct procfs_schedule {
	uint64_t ran_ns;
	uint64_t waited_ns; /* able to run, without a processor */
	uint64_t turns;     /* how often it got one */
};

bool procfs_schedule(pid_t tid, struct procfs_schedule *ret);

/* How long children of a process were on processors that have ended, and been
   waited for by it, with theirs; 0: not known. In steps of a clock tick. */
uint64_t procfs_children_ns(pid_t pid);

/* The page faults of a single task; false when it is gone. */
struct procfs_faults {
	uint64_t minor, major;
};

bool procfs_faults(pid_t tid, struct procfs_faults *ret);

/* Bytes that a single task had devices read, or caused to be written there by
   and by; false when it is gone, or the kernel doesn't say. */
struct procfs_device_bytes {
	uint64_t read, written;
};

bool procfs_device_bytes(pid_t tid, struct procfs_device_bytes *ret);

/* The processor that a task ran on last, or -1. */
int procfs_processor(pid_t tid);

#endif
