/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "growth/calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"
#include "growth/private.h"

enum call_kind {
	CALL_BRK,
	CALL_MAP,
	CALL_OLD_MAP, /* i386's first one: arguments lie in memory */
	CALL_REMAP,
	CALL_UNMAP,
	CALL_ADVISE,
};

/* Names of functions, and of system calls. */
static const struct {
	const char *name;
	enum call_kind kind;
} functions[] = {
	{ "brk", CALL_BRK },        { "mmap", CALL_MAP },
	{ "mmap64", CALL_MAP },     { "mmap2", CALL_MAP },
	{ "mremap", CALL_REMAP },   { "munmap", CALL_UNMAP },
	{ "madvise", CALL_ADVISE },
};

static const char *const shown[] = {
	[CALL_BRK] = "brk",      [CALL_MAP] = "mmap",
	[CALL_OLD_MAP] = "mmap", [CALL_REMAP] = "mremap",
	[CALL_UNMAP] = "munmap", [CALL_ADVISE] = "madvise",
};

#define ARGUMENTS 4

/* A call that runs. */
struct growth_running {
	uint64_t call;
	pid_t tid;
	enum call_kind kind;
	struct growth_actor actor;
	uint64_t arguments[ARGUMENTS];
	struct range_list taken;
	struct growth_running *next;
};

static bool find_kind(const char *name, enum call_kind *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!strcmp(functions[i].name, name)) {
			*ret = functions[i].kind;
			return true;
		}
	}
	return false;
}

bool growth_wants(const char *name)
{
	enum call_kind kind;

	return find_kind(name, &kind);
}

bool growth_is_end(const char *name)
{
	static const char *const names[] = {
		"_exit", "_Exit", "exit_group", "execve", "execveat",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* ---- arguments and results ---- */

static bool is_system_call(const struct call *call)
{
	return call->function->place == FUNCTION_SYSTEM_CALL;
}

static uint64_t whole_word(const struct call *call)
{
	return call->arch->word_size == 4 ? UINT32_MAX : UINT64_MAX;
}

static int read_arguments(const struct call *call, uint64_t ret[ARGUMENTS])
{
	const struct convention *convention =
		is_system_call(call) ? call->arch->syscall_convention :
				       call->arch->convention;
	const unsigned size = call->arch->word_size;
	const struct scalar scalar = { 0, size, SCALAR_INTEGER };
	const struct flat_value word = {
		.size = size, .align = size, .count = 1, .scalars = &scalar
	};
	struct argument_cursor cursor;

	convention->begin(&call->entry, NULL, &cursor);
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		struct passed passed = { 0 };
		int err = convention->argument(&cursor, &call->entry, NULL,
					       call->memory, &word, false,
					       &passed);

		if (err)
			return err;
		if (!passed.in_memory) {
			memcpy(&ret[i], passed.bytes, sizeof(ret[i]));
			ret[i] &= whole_word(call);
			continue;
		}
		err = memory_read_word(call->memory, passed.address, size,
				       &ret[i]);
		if (err)
			return err;
	}
	return 0;
}

static int read_old_map(const struct call *call, uint64_t ret[ARGUMENTS])
{
	const uint64_t address = ret[0];
	int err = 0;

	for (unsigned i = 0; !err && i < ARGUMENTS; i++)
		err = memory_read_word(call->memory, address + 4 * i, 4,
				       &ret[i]);
	return err;
}

/* The kernel's own errors are the last page of numbers; functions say -1. */
static bool has_failed(const struct call *call, uint64_t result)
{
	const uint64_t last = whole_word(call);

	return is_system_call(call) ? result > last - 4096 : result == last;
}

/* ---- entries ---- */

/* What is given back has to be known before it is. */
static void take(struct growth *growth, struct growth_running *running)
{
	const uint64_t *arguments = running->arguments;
	const bool stays = running->kind == CALL_REMAP &&
			   (!arguments[1] || arguments[3] & MREMAP_DONTUNMAP);

	if (running->kind == CALL_UNMAP ||
	    (running->kind == CALL_REMAP && !stays))
		growth_take(growth, arguments[0], arguments[1],
			    &running->taken);
}

static bool runs_one(const struct growth *growth, pid_t tid)
{
	const struct growth_running *running;

	for (running = growth->running; running; running = running->next)
		if (running->tid == tid)
			return true;
	return false;
}

static void begin(struct growth *growth, const struct call *call,
		  enum call_kind kind)
{
	struct growth_running running = {
		.call = call->id,
		.tid = call->tid,
		.kind = kind,
		.actor = { shown[kind], call->stack, call->time },
		.next = growth->running,
	};
	int err;

	if (runs_one(growth, call->tid))
		return;
	if (kind == CALL_MAP && is_system_call(call) &&
	    call->arch->word_size == 4 && !strcmp(call->function->name, "mmap"))
		running.kind = CALL_OLD_MAP;
	err = read_arguments(call, running.arguments);
	if (!err && running.kind == CALL_OLD_MAP)
		err = read_old_map(call, running.arguments);
	if (err) {
		growth->unreadable++;
		return;
	}
	growth->running = xmalloc(sizeof(running));
	take(growth, &running);
	*growth->running = running;
}

/* ---- returns ---- */

static void move_break(struct growth *growth, const struct growth_running *r,
		       bool by_kernel, uint64_t result)
{
	const uint64_t end = r->arguments[0];

	/* Only asked where it is. */
	if (end < growth->break_start)
		return;
	/* The kernel says where it is by now, moved or not. */
	if (by_kernel ? result != end : result != 0)
		growth_fail(growth, GROWTH_HEAP, &r->actor);
	else
		growth_move_break(growth, &r->actor, end);
}

static void remap(struct growth *growth, struct growth_running *r,
		  uint64_t result)
{
	const uint64_t *arguments = r->arguments;
	const bool stays = arguments[3] & MREMAP_DONTUNMAP;
	const struct growth_move move = {
		.from = arguments[0],
		.from_size = stays ? 0 : arguments[1],
		.to = result,
		.to_size = arguments[2],
	};

	growth_remap(growth, &r->actor, &move, &r->taken);
}

static void advise(struct growth *growth, const struct growth_running *r)
{
	const int advice = (int)r->arguments[2];

	if (advice == MADV_DONTNEED || advice == MADV_REMOVE)
		growth_drop_pages(growth, &r->actor, r->arguments[0],
				  r->arguments[1]);
}

static void end(struct growth *growth, struct growth_running *r,
		const struct call *call, uint64_t result)
{
	const bool failed = has_failed(call, result);

	if (r->kind == CALL_BRK) {
		move_break(growth, r, is_system_call(call), result);
		return;
	}
	if (failed) {
		growth_put_back(growth, &r->taken);
		if (r->kind != CALL_ADVISE)
			growth_fail(growth, GROWTH_MMAP, &r->actor);
		return;
	}
	switch (r->kind) {
	case CALL_MAP:
	case CALL_OLD_MAP:
		growth_map(growth, &r->actor, result, r->arguments[1]);
		break;
	case CALL_REMAP:
		remap(growth, r, result);
		break;
	case CALL_UNMAP:
		growth_unmap(growth, &r->actor, r->arguments[0],
			     r->arguments[1], &r->taken);
		break;
	case CALL_ADVISE:
		advise(growth, r);
		break;
	case CALL_BRK:
		break;
	}
}

static struct growth_running *find(struct growth *growth, uint64_t call)
{
	struct growth_running **at, *running;

	for (at = &growth->running; *at && (*at)->call != call;
	     at = &(*at)->next)
		;
	running = *at;
	if (running)
		*at = running->next;
	return running;
}

void growth_call(struct growth *growth, const struct event *event)
{
	const struct call *call = event->call;
	struct growth_running *running;
	enum call_kind kind;

	if (!find_kind(call->function->name, &kind))
		return;
	if (event->kind == EVENT_CALL) {
		begin(growth, call, kind);
		return;
	}
	running = find(growth, call->id);
	if (!running)
		return;
	if (event->kind == EVENT_RETURN) {
		running->actor.time = event->time;
		end(growth, running, call,
		    call->arch->result(event->regs) & whole_word(call));
	} else {
		growth->unfinished++;
		growth_put_back(growth, &running->taken);
	}
	free(running);
}

void growth_calls_fini(struct growth *growth)
{
	while (growth->running) {
		struct growth_running *next = growth->running->next;

		growth_put_back(growth, &growth->running->taken);
		free(growth->running);
		growth->running = next;
	}
}
