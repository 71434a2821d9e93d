/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNALS_H
#define CALLTRAP_SIGNALS_H

#include <signal.h>

#include "base/types.h"

/*
 * What signals ask of calltrap. Handlers only set these, and start a timer
 * that ticks until signals_rest(): a signal that comes just before a wait is
 * seen at the next tick.
 */
struct signal_requests {
	volatile sig_atomic_t wake;       /* look at the others */
	volatile sig_atomic_t interrupts; /* SIGINT, how many */
	volatile sig_atomic_t tolerated;  /* so many are the program's */
	volatile sig_atomic_t leave;      /* SIGTERM, SIGHUP, and others that
					     end programs (but see
					     signals_take()), more SIGINTs than
					     tolerated, or the deadline */
	volatile sig_atomic_t front_gone; /* it was killed: see front.h */
	volatile sig_atomic_t lifted;     /* see GUARDIAN_LIFTED */
	volatile sig_atomic_t reports;    /* SIGQUIT, how many */
	volatile sig_atomic_t switches;   /* SIGUSR1, how many */
	volatile sig_atomic_t takes;      /* these two mean something */
	volatile sig_atomic_t suspend;    /* SIGTSTP: see signals_take_stop() */
	volatile sig_atomic_t ticking;
	volatile uint64_t deadline; /* monotonic, ns; 0 = none */
	volatile uint64_t alarm;    /* wake then, too; 0 = never */
};

/* From the very start until then signals wait: what they ask is done then. */
void signals_hold(sigset_t *former_ret);

/*
 * Installs the handlers; of what signals_hold() has blocked, that which was
 * blocked before stays so. There is one of it.
 */
struct signal_requests *signals_start(const sigset_t *former);

/* SIGQUIT and SIGUSR1 are counted, and mean no longer that we should leave. */
void signals_take(void);

/*
 * SIGTSTP, which would stop calltrap and whoever waits for it, sets suspend
 * from now on; SIGTTOU is ignored. signals_stop() then stops the process, and
 * returns when it is continued. Only while no thread traces.
 */
void signals_take_stop(void);
void signals_stop(void);

/* Sets wake every now and then, from soon on. */
void signals_tick(void);

/* No more ticks until deadline or alarm, a signal, or signals_tick(). */
void signals_rest(void);

#endif
