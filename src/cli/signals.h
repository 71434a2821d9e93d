/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNALS_H
#define CALLTRAP_SIGNALS_H

#include <signal.h>

/*
 * What signals ask of calltrap. Handlers only set these; a timer ticks all the
 * time, so that one which comes just before a wait is seen soon after.
 */
struct signal_requests {
	volatile sig_atomic_t wake;       /* one of the others was set */
	volatile sig_atomic_t tick;
	volatile sig_atomic_t interrupts; /* SIGINT, how many */
	volatile sig_atomic_t leave;      /* SIGTERM, SIGHUP */
};

/* Installs the handlers, starts the timer. There is one of it. */
struct signal_requests *signals_start(void);

#endif
