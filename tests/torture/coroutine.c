/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define COROUTINES 4
#define TURNS      3
#define STACK_SIZE 65536

struct scheduler;

struct coroutine {
	struct scheduler *scheduler;
	ucontext_t context;
	void *stack;
	bool is_mapped;
	unsigned turns;
};

struct scheduler {
	struct stream *stream;
	ucontext_t main;
	struct coroutine coroutines[COROUTINES];
	unsigned ended;
};

/* Gives way to the others in the middle of a traced call. */
static void give_way(void *context)
{
	struct coroutine *coroutine = context;
	struct scheduler *scheduler = coroutine->scheduler;

	call(scheduler->stream, LEAF);
	coroutine->turns++;
	swapcontext(&coroutine->context, &scheduler->main);
	if (coroutine->turns < TURNS)
		call_through(scheduler->stream, give_way, coroutine);
	call(scheduler->stream, DATA);
}

static void run(unsigned low, unsigned high)
{
	struct coroutine *coroutine =
		(void *)((uintptr_t)high << 32 | (uintptr_t)low);
	struct scheduler *scheduler = coroutine->scheduler;

	call_through(scheduler->stream, give_way, coroutine);
	if (coroutine->turns != TURNS)
		fail("coroutine had %u turns", coroutine->turns);
	scheduler->ended++;
}

static bool begin(struct scheduler *scheduler, struct coroutine *coroutine)
{
	uintptr_t address = (uintptr_t)coroutine;

	coroutine->scheduler = scheduler;
	coroutine->stack = coroutine->is_mapped ?
				   mmap(NULL, STACK_SIZE,
					PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
				   malloc(STACK_SIZE);
	if (!coroutine->stack || coroutine->stack == MAP_FAILED)
		return false;
	getcontext(&coroutine->context);
	coroutine->context.uc_stack.ss_sp = coroutine->stack;
	coroutine->context.uc_stack.ss_size = STACK_SIZE;
	coroutine->context.uc_link = &scheduler->main;
	makecontext(&coroutine->context, (void (*)(void))run, 2,
		    (unsigned)address, (unsigned)(address >> 32));
	return true;
}

static void schedule(struct scheduler *scheduler)
{
	unsigned turn, i;

	for (turn = 0; turn <= TURNS; turn++)
		for (i = 0; i < COROUTINES; i++)
			swapcontext(&scheduler->main,
				    &scheduler->coroutines[i].context);
	if (scheduler->ended != COROUTINES)
		fail("%u coroutines ended", scheduler->ended);
}

void do_coroutine(struct worker *worker)
{
	struct scheduler *scheduler = calloc(1, sizeof(*scheduler));
	unsigned i;

	scheduler->stream = worker->stream;
	for (i = 0; i < COROUTINES; i++) {
		scheduler->coroutines[i].is_mapped =
			random_below(&worker->random, 2);
		if (!begin(scheduler, &scheduler->coroutines[i]))
			fail("no memory for a stack");
	}
	schedule(scheduler);
	for (i = 0; i < COROUTINES; i++) {
		struct coroutine *coroutine = &scheduler->coroutines[i];

		if (coroutine->is_mapped)
			munmap(coroutine->stack, STACK_SIZE);
		else
			free(coroutine->stack);
	}
	free(scheduler);
}
