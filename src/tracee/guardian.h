/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GUARDIAN_H
#define CALLTRAP_GUARDIAN_H

#include <signal.h>
#include <stdbool.h>

#include "base/types.h"

struct patch;

/*
 * A small process that restores the code of attached processes when calltrap
 * is killed (SIGKILL, the OOM killer). It waits for a robust mutex that
 * calltrap holds: of all that ends with a process, the kernel sees to these
 * first (exit_mm_release() in do_exit()), before memory is torn down, pipes
 * are closed and tracees let go. What is to be restored stands in memory that
 * both share.
 */
struct guardian;

/*
 * Comes when calltrap itself was stopped (SIGSTOP, a debugger, a frozen cgroup)
 * for longer than a second, and goes on: its traps have been lifted meanwhile,
 * by the guardian. It should leave.
 */
#define GUARDIAN_LIFTED (SIGRTMIN + 1)

/* NULL when it can't be had; everything else works without. */
struct guardian *guardian_start(void);

/* All is restored: it is to go. NULL is fine. */
void guardian_dismiss(struct guardian *guardian);

/*
 * A space, by a process that has it and its open /proc/PID/mem. Returns its number, or
 * -1 when there are too many or there is no guardian. Of children that have a copy of
 * it, which calltrap hadn't looked at when it was killed, the guardian lifts the traps,
 * too.
 */
int guardian_add_space(struct guardian *guardian, int pid, int mem_fd);
void guardian_drop_space(struct guardian *guardian, int space);

/*
 * A trap is about to be written at address of a space, over what is original
 * (see struct trap), on an instruction of that length. Returns the number of
 * the note, for guardian_unnote() when it is gone; -1 when there is no room
 * (the trap is then left behind if calltrap is killed).
 */
int guardian_note(struct guardian *guardian, int space, taddr_t address,
		  uint32_t original, uint8_t length);
void guardian_unnote(struct guardian *guardian, int note);

/*
 * The bytes behind the trap will be written to as well: where it still stands,
 * they are restored before it is lifted. Where the jump does, who is within it
 * goes on at a copy.
 */
void guardian_note_patch(struct guardian *guardian, int note, taddr_t address,
			 const struct patch *patch);

/*
 * They are being written to from here on. Then the trap is to stay, and who
 * runs into it waits, as long as calltrap lives, even if it is stopped. Returns
 * false when the guardian has lifted it, or is about to.
 */
bool guardian_begin_writing(struct guardian *guardian, int note) MUST_CHECK;
void guardian_end_writing(struct guardian *guardian, int note);

/*
 * The same for a word of 8 bytes that is 1, and is to be 0 when calltrap is no
 * more: code in the process looks there whether somebody listens.
 */
int guardian_note_gate(struct guardian *guardian, int space, taddr_t address);

/* … and for one by which code in the process knows that traps may stand. */
int guardian_note_awaited(struct guardian *guardian, int space,
			  taddr_t address);

/*
 * A task that is traced. If calltrap ends when it stands behind a trap, and
 * its stop has been fetched, the kernel would let it run on from there, in the
 * middle of an instruction. Returns the number of a place for it, or -1; to be
 * given back.
 */
int guardian_add_task(struct guardian *guardian, int pid, int tid);
void guardian_drop_task(struct guardian *guardian, int place);

/*
 * Whether it stands there just now. (Needed for instructions as short as a
 * trap; in the middle of a longer one it can't stand but by the trap.)
 */
void guardian_mark_task(struct guardian *guardian, int place, bool stands);

/*
 * Whether somebody has stopped it by a signal (job control): it is to stay so
 * when calltrap is killed.
 */
void guardian_mark_stopped(struct guardian *guardian, int place, bool stopped);

/* It was resumed: of all tasks the last ones are seen to first. */
void guardian_mark_resumed(struct guardian *guardian, int place);

#endif
