/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

static struct {
	diag_receiver *receiver;
	unsigned debug;
	enum diag_level least;
	unsigned quiet; /* domains that .least is for */
} state;

void diag_set_receiver(diag_receiver *receiver)
{
	state.receiver = receiver;
}

void diag_set_least(enum diag_level level, unsigned domains)
{
	state.least = level;
	state.quiet = domains;
}

void diag_set_debug(unsigned domains)
{
	state.debug = domains;
}

bool diag_debug_wanted(enum diag_domain domain)
{
	return state.debug & domain;
}

void diag(enum diag_level level, enum diag_domain domain, const char *format,
	  ...)
{
	char message[1024];
	va_list args;

	if (level == DIAG_DEBUG ? !diag_debug_wanted(domain) :
				  domain & state.quiet && level > state.least)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (state.receiver)
		state.receiver(level, domain, message);
	else
		fprintf(stderr, "calltrap: %s\n", message);
}
