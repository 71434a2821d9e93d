/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_H
#define CALLTRAP_AGENT_H

#include "agent/errand.h"
#include "agent/returns.h"
#include "agent/shared.h"
#include "agent/stub.h"
#include "agent/ticks.h"
#include "tracee/tracer.h"

/*
 * The agent in one space: getting in, the slots that lead to it, leaving.
 *
 * It gets in through a task that an interrupt has found in user mode, or that stands
 * at a trap of ours on a function's first instruction. The task
 * reserves the memory, then runs the agent's own boot code, which maps the rest
 * and leads back to where it was; from a trap a second time, to close the descriptor,
 * which else is done at once. On each of
 * these ways it saves and restores its registers itself, and so comes back to
 * its program whether we live or not.
 */
enum agent_state {
	AGENT_OUTSIDE,
	AGENT_RESERVING, /* a task has been sent to reserve the memory */
	AGENT_MAPPING,   /* a task has been sent to map what is shared */
	AGENT_CLOSING,   /* … and to close the descriptor */
	AGENT_INSIDE,
	AGENT_LEFT,
	AGENT_REFUSED, /* for good: .reason says why */
};

/* A GOT entry that leads to a stub. */
struct agent_slot {
	taddr_t address;
	taddr_t original;
	taddr_t hook;
};

/* A descriptor of the program, and what it is for as long as it is ours. */
struct agent_descriptor {
	int64_t number;
	uint64_t device, inode;
};

/*
 * What cryptographic libraries lock for their keys is 16 to 64 KiB. Who has locked more
 * may have asked for all that is mapped later (mlockall), and nobody else sees that.
 */
#define AGENT_LOCKED_MOST (128u << 10)

/* Of trampolines; more than any program has modules that need one. */
#define AGENT_PAGES 64

struct agent {
	struct space *space;
	enum agent_state state;
	const char *reason; /* why it isn't INSIDE, a few words; or NULL */
	pid_t tid; /* of the task that is on its way (0: it has ended) … */
	taddr_t place, sp; /* … and where it left, and will come back */
	bool at_once;      /* it goes by agent_send() */
	bool net_alone; /* the handler of SIGTRAP is wanted, or on its way, and
			   nothing else: then it is outside again */
	bool reserves;  /* the system call that it is in is its errand's */
	unsigned foreign; /* so often it was met on its way, doing other things */
	unsigned tries;
	uint64_t hits;       /* so often it could have been begun … */
	uint64_t least_hits; /* … which may wait for so many */
	uint64_t due;        /* … and isn't before so many */
	struct agent_descriptor left; /* to be closed */
	unsigned closings;
	uint64_t mode;          /* AGENT_COUNTS | … */
	uint64_t capture_bytes; /* as in struct agent_gate */
	taddr_t base;
	unsigned depth; /* these two as in struct agent_gate */
	uint64_t mean;
	unsigned rate;
	int64_t errno_offset;
	int64_t tid_offset; /* as in struct agent_gate */
	bool reused;        /* an earlier calltrap has left it behind */
	struct shared shared;
	struct returns returns;
	struct agent_stub stubs[AGENT_STUBS];
	unsigned stub_count;
	bool in_use[AGENT_STUBS]; /* those of our own */
	struct agent_slot *slots;
	size_t slot_count;
	size_t slot_room;
	/* For trampolines: those that are there, and the one to be had next. */
	taddr_t pages[AGENT_PAGES];
	unsigned page_count;
	taddr_t page_wanted;
	bool page_pending; /* a task is on its way for it */
	unsigned page_tries;
	/* The handler of SIGTRAP. */
	pid_t net_lost;       /* a process that has none any more … */
	bool net_wanted;      /* … and is to have one; nobody was sent yet */
	bool net_pending;     /* a task is on its way to set it again */
	unsigned net_tries;   /* so often one was sent */
	uint64_t net_look_at; /* monotonic */
	bool open;            /* the gate … */
	uint64_t since;       /* … which is so old, in ticks */
	int note;             /* the guardian's of that, or -1 */
	bool retired;         /* no slot leads there, nor will */
	uint64_t blind;       /* shared_closings(), when it was found closed */
};

/* Modes in which threads have rings, and say who they are. */
#define AGENT_WITH_RINGS (AGENT_RECORDS | AGENT_WATCHES)

void agent_init(struct agent *agent, struct space *space, uint64_t mode);

/* Bytes of the process's address space that it takes. */
uint64_t agent_addresses(void);

/* Whether the code before the address is the agent's, or such as gets it in. */
bool agent_has_code(const struct agent *agent, taddr_t address);

/* How much of these is in memory now; false: nobody can tell. */
bool agent_resident(const struct agent *agent, pid_t pid, uint64_t *ret);

/* … and of code, stubs and trampolines, which are memory. */
uint64_t agent_code_bytes(const struct agent *agent);

/* Forgets all; what lies in the process stays as it is. */
void agent_fini(struct agent *agent);

/* For good. Returns false. */
bool agent_refuse(struct agent *agent, const char *reason);

/*
 * A task has hit a trap that stands on a function's first instruction, and
 * nothing else was done about it yet. Returns true when the task was sent to
 * work for the agent: it will hit the trap again, and this is no call.
 */
bool agent_take(struct agent *agent, struct task *task);

/*
 * Without a trap: a task that runs was asked to stop, and stands there. If it was sent
 * to work for the agent it has to stop at system calls from now on, until
 * agent_pass_call() has been told of the last one. Not every task that is asked will
 * do; it may be tried with the next. With .net_alone also one that stands before
 * its program's first instruction.
 */
enum agent_sent {
	AGENT_SENT,
	AGENT_NOT_NOW, /* from elsewhere it might be */
	AGENT_NOT_THIS,
};

enum agent_sent agent_send(struct agent *agent, struct task *task);

/*
 * It stands at a system call, of its own or the agent's. Returns whether it was sent
 * by agent_send(); the way has come to its end if agent_is_on_the_way() denies it.
 */
bool agent_pass_call(struct agent *agent, struct task *task,
		     const struct syscall_stop *stop);

/* Why it won't get in by any task of the process: asked of one of them; or NULL. */
const char *agent_why_no_entry(const struct agent *agent,
			       const struct task *task);

/*
 * The same, INSIDE, for memory that patches_apply() wants; done once the task
 * is back. Both return whether the task has gone.
 */
bool agent_fetch_page(struct agent *agent, struct task *task);

/*
 * The same, for the handler of SIGTRAP, which the kernel takes away where a thread
 * blocks that and hits a trap; now and then it is looked whether it has.
 */
void agent_look_at_net(struct agent *agent, uint64_t now);
bool agent_mend_net(struct agent *agent, struct task *task);

/* A task has ended, or was let go of, which may have been on its way. */
void agent_task_ended(struct agent *agent, pid_t tid);

/*
 * A task has got a SIGSEGV. Returns whether that was for reading the time stamp
 * counter in the agent, which the program has forbidden it (PR_SET_TSC): then
 * it has been given it, is not to get the signal, and the agent is to retire.
 */
bool agent_fault(struct agent *agent, struct task *task);

/*
 * … or a SIGBUS. Returns whether that was for memory that a record was to have, and
 * another thread has unmapped meanwhile: then it goes on without it.
 */
bool agent_miss(struct agent *agent, struct task *task);

/* No slot leads there any more, and none will. */
void agent_retire(struct agent *agent);

/* SAMPLES: how often the mean is doubled from now on. */
void agent_set_rate(struct agent *agent, unsigned rate);

/* As in struct agent_gate, from now on. */
void agent_set_detail(struct agent *agent, uint64_t capture_bytes,
		      unsigned depth);

/*
 * INSIDE: has calls of a function caught that come through slots, of modules
 * that are there now. Returns the stub's number, or a negative errno. The gate
 * is opened when the first is made.
 */
int agent_catch(struct agent *agent, const char *name,
		const struct stub_config *config,
		const struct ticks *ticks) MUST_CHECK;

/*
 * The same, of calls that come through one slot alone. The slot may have changed meanwhile: it leads to the stub
 * only when agent_hook_slot() says so. (Also where it led to another stub of that function.)
 */
int agent_make_stub(struct agent *agent, const struct stub_config *config,
		    const struct ticks *ticks) MUST_CHECK;
bool agent_hook_slot(struct agent *agent, taddr_t slot, unsigned stub);

/* Has a trap stand at the stub's door, for the calls that the agent sends there. */
int agent_open_door(struct agent *agent, unsigned stub,
		    struct trap_owner *door) MUST_CHECK;
void agent_shut_door(struct agent *agent, unsigned stub,
		     struct trap_owner *door);

/* What the slot holds now, and what it holds while it leads to the stub. */
bool agent_read_slot(struct agent *agent, taddr_t slot, taddr_t *ret);
taddr_t agent_hook_of(const struct agent *agent, unsigned stub);

/* The process' memory, whatever its protection: all of it, or an error. */
int agent_write(struct agent *agent, taddr_t address, const void *bytes,
		size_t size) MUST_CHECK;
bool agent_read(struct agent *agent, taddr_t address, void *ret,
		size_t size) MUST_CHECK;

/* Nothing is told of it any more: it may be used for another function. */
void agent_release(struct agent *agent, unsigned stub);

/* Looks for slots of a stub that have been filled in since, or restored. */
size_t agent_find_slots(struct agent *agent, const char *name, unsigned stub);

/* Where a stub has its function's first instruction, and goes on behind the trap on
   it; or 0. */
taddr_t agent_way_past(const struct agent *agent, unsigned stub);

/* Has calls through a slot of others go past the trap on its function, untold. */
bool agent_lead_past(struct agent *agent, taddr_t slot, unsigned stub);

/* Whether any slot leads to the stub. */
bool agent_has_slots(const struct agent *agent, unsigned stub);

/* What was mapped there is gone. */
void agent_forget_range(struct agent *agent, taddr_t low, taddr_t high);

/*
 * A sign of life. If the hooks have closed the gate for want of such, it is
 * opened again; returns false then: calls went by unseen.
 */
bool agent_beat(struct agent *agent, const struct ticks *ticks);

/* A sign of life, and nothing else. */
void agent_live(struct agent *agent);

/*
 * A forked child has a copy of the memory, in which the gate is closed: there
 * nothing leads to the agent until it gets in by itself.
 */
void agent_leave_copy(const struct agent *agent, struct space *copy);

/*
 * Slots lead where they led before, and the gate is closed. Code and gate stay
 * in the process, as a thread may be in them; the next one finds them.
 */
void agent_leave(struct agent *agent);

/* A task was sent to get it in, and isn't back. */
bool agent_is_on_the_way(const struct agent *agent);

/* The space is about to end: the guardian has nothing to close there. */
void agent_unguard(struct agent *agent);

#endif
