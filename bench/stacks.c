/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long it takes to follow a stack of 26 frames of a stopped process: with
 * libunwind-ptrace as it comes, and with src/stack. Prints a line of
 * microseconds for each. With an argument it is the process, and stops
 * itself (for gdb).
 */
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "stack/unwind.h"
#include "sysdeps/linux/procfs.h"
#include "sysdeps/linux/ptrace.h"
#include "tracee/tracer.h"

#define FRAMES             26
#define ROUNDS_AS_IT_COMES 100
#define ROUNDS             20000

/* ---- the process: half of its frames are the C library's ---- */

static void go_deeper(int depth);

static int compare(const void *key, const void *element)
{
	go_deeper(*(const int *)key - 1);
	return element == NULL;
}

static __attribute__((noinline)) void go_deeper(int depth)
{
	volatile int key = depth, element = 0;

	if (depth > 0)
		(void)bsearch((const int *)&key, (const int *)&element, 1,
			      sizeof(int), compare);
	else
		raise(SIGSTOP);
	key = 0;
}

static pid_t start(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		go_deeper(30);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		exit(1);
	return pid;
}

/* Nanoseconds of the processor: the machine may be busy. */
static uint64_t time_used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

/* ---- libunwind-ptrace ---- */

static unsigned step_to_end(unw_addr_space_t space, void *upt)
{
	unw_cursor_t cursor;
	unsigned frames = 1;

	if (unw_init_remote(&cursor, space, upt))
		exit(1);
	while (frames < FRAMES && unw_step(&cursor) > 0)
		frames++;
	return frames;
}

static double as_it_comes(pid_t pid, unsigned *frames_ret)
{
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *upt = _UPT_create(pid);
	uint64_t begin = time_used();
	int i;

	for (i = 0; i < ROUNDS_AS_IT_COMES; i++)
		*frames_ret = step_to_end(space, upt);
	begin = time_used() - begin;
	_UPT_destroy(upt);
	unw_destroy_addr_space(space);
	return begin / 1e3 / ROUNDS_AS_IT_COMES;
}

/* ---- ours ---- */

static void add_modules(struct space *space, pid_t pid)
{
	struct procfs_mapping *mapping = xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(pid);

	while (maps && procfs_maps_next(maps, mapping)) {
		struct image *image;
		int fd;

		if (mapping->offset || *mapping->path != '/')
			continue;
		fd = open(mapping->path, O_RDONLY);
		if (!image_open(fd, mapping->path, &image))
			module_add(space, image,
				   mapping->start - image_low(image),
				   mapping->path);
		close(fd);
	}
	fclose(maps);
	free(mapping);
}

static double ours(pid_t pid, unsigned *frames_ret, double *first_ret)
{
	struct tracer tracer = { 0 };
	struct space space = { .tracer = &tracer, .arch = &arch_x86_64 };
	struct stacks *stacks = stacks_new();
	struct unwinder *unwinder = unwinder_new(stacks);
	struct regs regs;
	uint64_t begin;
	stack_id stack = STACK_NONE;
	int i;

	procmem_init(&space.memory, pid);
	add_modules(&space, pid);
	if (ptrace_get_regs(pid, &regs))
		exit(1);
	begin = time_used();
	unwind(unwinder, &space, &space.memory.memory, pid, &regs, FRAMES,
	       false);
	*first_ret = (time_used() - begin) / 1e3;
	begin = time_used();
	for (i = 0; i < ROUNDS; i++)
		stack = unwind(unwinder, &space, &space.memory.memory, pid,
			       &regs, FRAMES, false);
	begin = time_used() - begin;
	*frames_ret = stacks_depth(stacks, stack);
	unwinder_free(unwinder);
	stacks_free(stacks);
	return begin / 1e3 / ROUNDS;
}

int main(int argc, char **argv)
{
	unsigned theirs_frames, our_frames;
	double theirs, mine, first;
	pid_t pid;

	(void)argv;
	if (argc > 1) {
		go_deeper(30);
		return 0;
	}
	pid = start();
	theirs = as_it_comes(pid, &theirs_frames);
	mine = ours(pid, &our_frames, &first);
	kill(pid, SIGKILL);
	printf("libunwind-ptrace %.2f %u\n", theirs, theirs_frames);
	printf("calltrap %.3f %u\n", mine, our_frames);
	printf("first %.1f %u\n", first, our_frames);
	return 0;
}
