/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DIAG_H
#define CALLTRAP_DIAG_H

#include <stdbool.h>

#include "base/types.h"

/*
 * What the lower rooms have to say. They never print: the command line sets
 * the one receiver, which decides what reaches the user.
 */
enum diag_level {
	DIAG_ERROR,   /* what was asked for can't be done */
	DIAG_WARNING, /* it can be done, but something is missing */
	DIAG_NOTE,    /* good to know */
	DIAG_DEBUG,   /* only with -D */
};

/* Whose message it is: the bit in the mask of -D. */
enum diag_domain {
	DIAG_STOP = 1,       /* stops, and how tasks are resumed */
	DIAG_TRAP = 2,       /* traps planted, passed and removed */
	DIAG_MODULE = 4,     /* modules, link maps, images */
	DIAG_PROBE = 8,      /* filters, probes, pairing */
	DIAG_PROTOTYPE = 16, /* prototype files */
	DIAG_SESSION = 32,   /* attaching, leaving */
};

typedef void diag_receiver(enum diag_level level, enum diag_domain domain,
			   const char *message);

/* Without a receiver everything but debug messages goes to stderr. */
void diag_set_receiver(diag_receiver *receiver);

/* Less important messages of these domains are dropped; none at the start. */
void diag_set_least(enum diag_level level, unsigned domains);

/* The domains whose debug messages are wanted; none at the start. */
void diag_set_debug(unsigned domains);
bool diag_debug_wanted(enum diag_domain domain);

void diag(enum diag_level level, enum diag_domain domain, const char *format,
	  ...) PRINTF_LIKE(3, 4);

#define diag_debug(domain, ...)                                     \
	do {                                                        \
		if (__builtin_expect(diag_debug_wanted(domain), 0)) \
			diag(DIAG_DEBUG, domain, __VA_ARGS__);      \
	} while (0)

#endif
