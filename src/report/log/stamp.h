/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STAMP_H
#define CALLTRAP_STAMP_H

#include <time.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "report/log/log.h"

/* Wall-clock times at the beginning of lines. */
struct stamp {
	enum log_clock clock;
	time_t second; /* that clock_text stands for */
	char clock_text[16];
	struct wall_clock wall;
};

/* Adds the local time (and a blank) at a monotonic time. */
void stamp_add(struct stamp *stamp, uint64_t time, struct strbuf *out);

#endif
