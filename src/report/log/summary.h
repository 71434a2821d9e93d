/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SUMMARY_H
#define CALLTRAP_SUMMARY_H

#include <stdbool.h>

#include "probe/event.h"
#include "report/format/dialect.h"

/*
 * The count table of -c: calls and time by function name, over all processes.
 * Printed at the end, to path or (NULL) standard error. Time is inclusive of
 * callees. Calls that were abandoned or are still running are counted too;
 * the quantiles are over those that have ended.
 */
struct summary_options {
	const char *path;
	bool demangle;
	bool quantiles;                /* -T: columns p50, p99 and max */
	const struct dialect *dialect; /* NULL: our own */
	bool first_thread;             /* of each process, and no other */
};

int summary_new(const struct summary_options *options,
		struct sink **ret) MUST_CHECK;

#endif
