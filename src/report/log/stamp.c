/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/stamp.h"

#include "base/clock.h"

/* Working out local time anew for each line would double a line's cost. */
static const char *local_time(struct stamp *stamp, time_t second)
{
	struct tm tm;

	if (stamp->second == second && stamp->clock_text[0])
		return stamp->clock_text;
	stamp->second = second;
	if (!localtime_r(&second, &tm))
		return "??:??:??";
	strftime(stamp->clock_text, sizeof(stamp->clock_text), "%H:%M:%S", &tm);
	return stamp->clock_text;
}

void stamp_add(struct stamp *stamp, uint64_t time, struct strbuf *out)
{
	uint64_t wall;
	time_t second;
	unsigned micros;

	if (stamp->clock == LOG_CLOCK_NONE)
		return;
	wall = clock_wall(time);
	second = wall / NS_PER_SECOND;
	micros = wall % NS_PER_SECOND / 1000;
	switch (stamp->clock) {
	case LOG_CLOCK_NONE:
		break;
	case LOG_CLOCK_SECONDS:
		strbuf_printf(out, "%s ", local_time(stamp, second));
		break;
	case LOG_CLOCK_MICROSECONDS:
		strbuf_printf(out, "%s.%06u ", local_time(stamp, second),
			      micros);
		break;
	case LOG_CLOCK_EPOCH:
		strbuf_printf(out, "%lld.%06u ", (long long)second, micros);
		break;
	}
}
