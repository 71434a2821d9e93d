/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_ENGINE_H
#define CALLTRAP_ENGINE_H

#include <stdbool.h>

#include "base/hash.h"
#include "probe/event.h"
#include "probe/moment.h"

/*
 * Engines catch calls. The prober has a list of them, and asks each in turn
 * for each point that it wants caught; traps come last and are always there.
 * Whatever an engine has caught it hands over as a moment, so nothing above
 * knows which one it was.
 */

struct engine;
struct module;
struct point;
struct space;

/* What somebody needs to be told of a point, and what an engine can promise. */
enum {
	ENGINE_ENTRY = 1,  /* each thread that begins the function there */
	ENGINE_ANY = 2,    /* … or comes to any other instruction */
	ENGINE_RETURN = 4, /* when the function returns that was begun there */
	ENGINE_MEMORY = 8, /* all registers and memory, as they are then */
	ENGINE_WALK = 16,  /* what it has put on stacks, for who walks there */
};

struct point_ops {
	/* Called by the engine, in the order in which it happened. */
	void (*reached)(struct point *point, const struct moment *moment);
};

/*
 * An address of a space that threads are to be caught at. Embedded as first
 * member of whatever wants it; the owner fills in what comes first, and the
 * rest is 0.
 */
struct point {
	const struct point_ops *ops;
	struct probe_space *space;
	taddr_t address;
	const struct function *function; /* that begins there; or NULL */
	/* What begins there walks over the stack, or throws it away; … */
	bool walks;
	bool unheard; /* … only engines need it, and nobody is to be told */
	/*
	 * Only calls that return there are wanted, made through the GOT entry
	 * at slot (0: it isn't known). NULL: all calls; if there is a slot, it
	 * is what the code at the address jumps through, and nothing else
	 * does; if there is a shared slot, others read the address there.
	 * Where the code at the address stands for the function, so that others
	 * have its calls by pointer, it jumps through stub_slot.
	 */
	const struct module *caller;
	taddr_t slot, shared_slot, stub_slot;
	/* … the module's code does nothing but call what the slot holds. */
	bool slot_is_called;
	/* At the address is no function's begin, but a jump to it: through the
	   slot of which the same is true; or (0) somehow. */
	bool at_jump;

	struct engine *engine; /* that catches it; NULL: none */
	void *data;            /* … and what that one keeps of it */
	struct point *same_address;
	UT_hash_handle hh; /* by address; the newest */
};

/*
 * That a return will be told of. Embedded as first member of what the engine
 * keeps of it.
 */
struct return_watch {
	struct engine *engine;
};

struct engine_ops {
	const char *name;
	unsigned promises; /* ENGINE_… */

	/*
	 * Has the point caught from now on; it stays where it is until it is
	 * unplanted. Returns a negative errno when this engine can't: the next
	 * one is asked.
	 */
	int (*plant)(struct engine *engine, struct point *point);

	/*
	 * Nobody wants it any more; no thread is told of afterwards. gone: so
	 * is the code, and nothing may be written there.
	 */
	void (*unplant)(struct engine *engine, struct point *point, bool gone);

	/*
	 * All points of the modules that are there now are planted; no thread
	 * has come to one that wasn't there before. NULL: nothing to prepare.
	 */
	void (*prepare)(struct engine *engine, struct probe_space *space);

	/*
	 * A call has begun whose return is wanted: pairing_return() will be
	 * called for it. NULL when this engine can't tell of it.
	 */
	struct return_watch *(*watch_return)(struct engine *engine,
					     struct probe_space *space,
					     const struct call *call);

	/* The call is over, whether it has returned or not. */
	void (*unwatch_return)(struct return_watch *watch);

	/* What was mapped there is gone, with all that was written into it. */
	void (*forget_range)(struct engine *engine, struct probe_space *space,
			     taddr_t low, taddr_t high);

	/*
	 * All frames of the moment's stack below the limit were thrown away
	 * without a return. NULL: that doesn't matter.
	 */
	void (*forget_frames)(struct engine *engine,
			      const struct moment *moment, taddr_t limit);

	/*
	 * Whether a task that was sent somewhere will soon be back: a process
	 * isn't let go of before, if that lasts no longer than a moment. NULL:
	 * none ever is.
	 */
	bool (*is_on_the_way)(const struct engine *engine);

	/*
	 * A process will soon be let go of: no call begins any more that the engine
	 * would have to see the end of; what stops is served as ever. And whether
	 * calls that have begun are still to end, anywhere: they are waited for,
	 * no longer than a moment. NULL: there are none.
	 */
	void (*close)(struct engine *engine, struct probe_space *space);
	bool (*is_awaited)(const struct engine *engine);

	/*
	 * A process will be let go of, or (exec, end) is gone: what is known of
	 * it and hasn't been told yet is to be told now. In the first case the
	 * engine takes out what it has put in. NULL: there is nothing to do.
	 */
	void (*leave)(struct engine *engine, struct probe_space *space);
	void (*end)(struct engine *engine, struct probe_space *space);

	/*
	 * A child was made that is traced as well, with a copy of the memory;
	 * it hasn't run yet. NULL: that has nothing that would do harm.
	 */
	void (*forked)(struct engine *engine, struct probe_space *parent,
		       struct probe_space *child);

	/*
	 * Something that happened then is about to be told by another engine:
	 * what is known of the time before it is to be told first. NULL: all
	 * is told at once. tid: a thread that has been stopped since then, so
	 * all that is known of it came before; or 0.
	 */
	void (*catch_up)(struct engine *engine, uint64_t time, pid_t tid);

	/*
	 * The group of a function that runs on the moment's thread, and that
	 * nobody was told of; 0: there is none. NULL: all are told.
	 */
	unsigned (*passed_over)(struct engine *engine,
				const struct moment *moment);

	/*
	 * Whether the code before the address is the engine's own: the program
	 * hasn't made its system calls. NULL: it has none.
	 */
	bool (*is_own_code)(struct engine *engine, struct probe_space *space,
			    taddr_t address);
};

/* Embedded as first member of what implements it. */
struct engine {
	const struct engine_ops *ops;
	struct engine *next; /* to be asked after this one */
};

/* Threads stop at an int3: all that can be promised. */
extern const struct engine_ops trap_engine_ops;

/* ---- what engines call ---- */

/*
 * A thread has returned to the address, its stack pointer as of the moment.
 * Whether a call was waiting for that.
 */
bool pairing_return(const struct moment *moment, taddr_t return_address);

/*
 * All returns that the watch stood for will never be told of: it isn't
 * unwatched any more.
 */
void pairing_forget_watch(struct probe_space *space,
			  const struct return_watch *watch);

/* The space of a probe_space, as the tracer knows it. */
struct space *engine_space(const struct probe_space *space);

#endif
