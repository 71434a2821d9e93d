/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PASSING_H
#define CALLTRAP_PASSING_H

#include "tracee/tracer.h"

/*
 * Brings a task, whose ip is at the trap, past the instruction under it: by
 * emulation, else by a copy elsewhere, else by stepping it while every other
 * task of the space stands still. The trap is never lifted while another task
 * can run.
 */
void trap_pass(struct task *task, struct trap *trap);

/*
 * Before a task leaves our hands in any other way (a signal, a detach): if it
 * stands in a copy, puts it back into the original code.
 */
void task_leave_scratch(struct task *task);

/*
 * The task is about to be let go: if it is in code that it was sent to, it goes
 * on where it came from instead.
 */
void task_leave_guest(struct task *task);

/* Whether this hit is the repetition of one that a signal interrupted. */
bool task_take_visit(struct task *task, taddr_t address, taddr_t sp);

/* Frames below sp are gone: so are the visits in them. */
void task_forget_visits(struct task *task, taddr_t sp);

#endif
