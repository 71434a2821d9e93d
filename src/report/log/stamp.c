/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/stamp.h"

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

	if (stamp->clock == LOG_CLOCK_NONE)
		return;
	wall = wall_clock_at(&stamp->wall, time);
	second = wall / NS_PER_SECOND;
	if (stamp->clock == LOG_CLOCK_EPOCH)
		strbuf_add_decimal(out, second, true);
	else
		strbuf_put(out, local_time(stamp, second));
	if (stamp->clock != LOG_CLOCK_SECONDS)
		strbuf_add_micros(out, wall);
	strbuf_putc(out, ' ');
}
