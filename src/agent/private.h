/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_PRIVATE_H
#define CALLTRAP_AGENT_PRIVATE_H

#include "agent/agent.h"

/* ---- agent.c ---- */

int agent_write_gate(struct agent *agent, size_t offset, uint64_t value);
bool agent_read_gate(struct agent *agent, struct agent_gate *ret);

#define AGENT_WRITE_GATE(agent, member, value) \
	agent_write_gate(agent, offsetof(struct agent_gate, member), value)

/* ---- refusal.c ---- */

/*
 * To look at all that takes a while: done ever more seldom, but not at every so many
 * hits, which may be in step with the program's own loop.
 */
bool agent_is_due(struct agent *agent, const struct task *task);

/*
 * Why the task can't be sent to code of the agent's; or, by_status, let it in. All that a
 * program maps after mlockall(MCL_FUTURE) becomes resident.
 */
const char *agent_why_not_run(const struct agent *agent,
			      const struct task *task);
const char *agent_why_not_by_status(const struct agent *agent,
				    const struct task *task);

/* ---- entering.c ---- */

/* How often it may be given up half-way. */
#define AGENT_TRIES 8

/* A reason that is found beforehand, or by what has become of the first mapping. */
#define AGENT_LOCKED "it locks its memory"

/* The task that goes will come back here. */
void agent_remember_way(struct agent *agent, const struct task *task);

/* The task is sent to get it in. Returns whether it has gone. */
bool agent_set_out(struct agent *agent, struct task *task);

/* The memory is reserved: code is written there, and the task sent to it. */
bool agent_start_image(struct agent *agent, struct task *task);

/* What is shared is opened by the task's descriptor; or .reason says why not. */
bool agent_open_shared(struct agent *agent, int64_t number);

/* Whether that is what boot makes, and not a file of the program's. */
bool agent_has_opened(const struct agent *agent, int number);

/* All of it is there, if what is shared is open: else it is refused. Returns false. */
bool agent_is_inside(struct agent *agent);

/* Whether an earlier one has left a descriptor open; except: not this one. */
bool agent_left_any(struct agent *agent, int64_t except);

/*
 * Who has been sent to boot, and is still in a handler above it, finds that it
 * is another one's turn: what it has mapped or will map is nobody's.
 */
void agent_call_off(struct agent *agent);

/* It is to do what, see enum agent_boot. */
bool agent_set_boot(struct agent *agent, struct task *task, uint64_t what);

/*
 * A handler that came in between has jumped out of it: the same place on the
 * stack is another call's now. What was mapped stays behind. Returns whether
 * that was the last time.
 */
bool agent_give_up(struct agent *agent, const char *reason);

#define AGENT_NO_RETURN "its handlers don't return"

/*
 * The task that left is back, and not a handler of a signal that came on its
 * way: that one may call the same function.
 */
bool agent_is_back(const struct agent *agent, const struct task *task);

/* ---- at_once.c ---- */

/*
 * Who was sent by agent_send(), and is on its way, was met with that stack pointer, doing
 * what isn't ours: in a handler, or as one has jumped out. Returns whether it isn't
 * waited for any more; it was given up then.
 */
bool agent_is_astray(struct agent *agent, taddr_t sp);

/* ---- page.c ---- */

/* The task has come back, or never will. */
void agent_page_is_settled(struct agent *agent, pid_t pid);

/*
 * Those that earlier calltraps have left: the one that was asked for last, also when
 * who wanted it had gone before it had a use, and where stubs have trampolines.
 */
void agent_know_pages(struct agent *agent, taddr_t last);

#endif
