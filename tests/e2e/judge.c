/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge PID ROUNDS: stops the threads of a process at any moment, ROUNDS times
 * each, and compares the stacks of src/stack with those of libunwind-ptrace.
 * Prints how many there were, how many are equal, how many of these hold a
 * signal frame, and each pair that isn't.
 */
#include <dirent.h>
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

#define FRAMES_MAX 512
#define TASKS_MAX  64

struct stack {
	uint64_t frames[FRAMES_MAX];
	unsigned count;
};

struct judge {
	pid_t pid;
	pid_t tasks[TASKS_MAX];
	unsigned task_count;
	struct tracer tracer;
	struct space space;
	struct stacks *stacks;
	struct unwinder *unwinder;
	unw_addr_space_t theirs;
	uint64_t vdso_bias;
	unsigned compared, equal, signals;
};

/* ---- ours ---- */

static void add_module(struct judge *judge,
		       const struct procfs_mapping *mapping)
{
	int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);
	struct image *image;

	if (fd < 0)
		return;
	if (!image_open(fd, mapping->path, &image))
		module_add(&judge->space, image,
			   mapping->start - image_low(image), mapping->path);
	close(fd);
}

static void add_modules(struct judge *judge)
{
	struct procfs_mapping *mapping = xmalloc(sizeof(*mapping));
	FILE *maps = procfs_maps_open(judge->pid);

	while (maps && procfs_maps_next(maps, mapping)) {
		if (!strcmp(mapping->path, "[vdso]"))
			judge->vdso_bias = mapping->start;
		if (!mapping->offset && *mapping->path == '/')
			add_module(judge, mapping);
	}
	if (maps)
		fclose(maps);
	free(mapping);
}

static uint64_t address_of(const struct judge *judge, const struct frame *frame)
{
	const struct module *module;

	for (module = judge->space.modules; module; module = module->next)
		if (module->image == frame->code->image)
			return frame->address + module->bias;
	return frame->address + judge->vdso_bias;
}

static bool take_ours(struct judge *judge, pid_t tid, struct stack *ret)
{
	struct frame frames[FRAMES_MAX];
	bool is_handled = false;
	struct regs regs;
	stack_id stack;
	unsigned i;

	if (ptrace_get_regs(tid, &regs))
		exit(1);
	stack = unwind(judge->unwinder, &judge->space,
		       &judge->space.memory.memory, tid, &regs, FRAMES_MAX,
		       false);
	ret->count = stacks_frames(judge->stacks, stack, frames, FRAMES_MAX);
	for (i = 0; i < ret->count; i++) {
		ret->frames[i] = address_of(judge, &frames[i]);
		is_handled |= frames[i].method == FRAME_HANDLED;
	}
	return is_handled;
}

/* ---- theirs ---- */

static void take_theirs(struct judge *judge, pid_t tid, struct stack *ret)
{
	void *upt = _UPT_create(tid);
	unw_cursor_t cursor;
	unw_word_t ip;

	ret->count = 0;
	if (!upt || unw_init_remote(&cursor, judge->theirs, upt))
		exit(1);
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip) || !ip)
			break;
		ret->frames[ret->count++] = ip;
	} while (ret->count < FRAMES_MAX && unw_step(&cursor) > 0);
	_UPT_destroy(upt);
}

/* ---- the two ---- */

static void print_stack(const char *whose, const struct stack *stack)
{
	unsigned i;

	printf("%s", whose);
	for (i = 0; i < stack->count; i++)
		printf(" %llx", (unsigned long long)stack->frames[i]);
	putchar('\n');
}

static void compare(struct judge *judge, pid_t tid)
{
	struct stack ours, theirs;
	bool is_handled = take_ours(judge, tid, &ours);

	take_theirs(judge, tid, &theirs);
	judge->compared++;
	if (ours.count == theirs.count &&
	    !memcmp(ours.frames, theirs.frames,
		    ours.count * sizeof(*ours.frames))) {
		judge->equal++;
		judge->signals += is_handled;
		return;
	}
	print_stack("ours", &ours);
	print_stack("theirs", &theirs);
}

/* ---- stopping ---- */

static void seize_all(struct judge *judge)
{
	char path[64];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)judge->pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && judge->task_count < TASKS_MAX &&
		    !ptrace(PTRACE_SEIZE, tid, NULL, NULL))
			judge->tasks[judge->task_count++] = tid;
	}
	if (directory)
		closedir(directory);
}

/* Signals on their way are let through. False when the task has ended. */
static bool stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return false;
	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_CONT, tid, NULL, WSTOPSIG(status));
	}
	return false;
}

static void go_round(struct judge *judge)
{
	struct timespec pause = { .tv_nsec = rand() % 3000000 };
	unsigned i;

	nanosleep(&pause, NULL);
	for (i = 0; i < judge->task_count; i++) {
		if (!stop(judge->tasks[i]))
			continue;
		compare(judge, judge->tasks[i]);
		ptrace(PTRACE_CONT, judge->tasks[i], NULL, NULL);
	}
}

int main(int argc, char **argv)
{
	struct judge judge = { 0 };
	int rounds;

	if (argc != 3)
		return 2;
	judge.pid = atoi(argv[1]);
	judge.space =
		(struct space){ .tracer = &judge.tracer, .arch = arch_native };
	procmem_init(&judge.space.memory, judge.pid);
	add_modules(&judge);
	judge.stacks = stacks_new();
	judge.unwinder = unwinder_new(judge.stacks);
	judge.theirs = unw_create_addr_space(&_UPT_accessors, 0);
	unw_set_caching_policy(judge.theirs, UNW_CACHE_GLOBAL);
	seize_all(&judge);
	for (rounds = atoi(argv[2]); rounds > 0; rounds--)
		go_round(&judge);
	printf("compared %u equal %u signals %u\n", judge.compared, judge.equal,
	       judge.signals);
	return 0;
}
