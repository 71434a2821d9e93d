/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "base/clock.h"
#include "base/strbuf.h"

void strbuf_add_duration(struct strbuf *buf, uint64_t nanoseconds)
{
	uint64_t minutes = nanoseconds / (60 * NS_PER_SECOND);

	/* What would be rounded to 1000 is one of the next unit. */
	if (nanoseconds < 999500)
		strbuf_printf(buf, "%.3g µs", nanoseconds / 1e3);
	else if (nanoseconds < 999500000)
		strbuf_printf(buf, "%.3g ms", nanoseconds / 1e6);
	else if (minutes < 2)
		strbuf_printf(buf, "%.3g s", nanoseconds / 1e9);
	else if (minutes < 60)
		strbuf_printf(buf, "%" PRIu64 " min %" PRIu64 " s", minutes,
			      (uint64_t)(nanoseconds / NS_PER_SECOND % 60));
	else if (minutes < 48 * 60)
		strbuf_printf(buf, "%" PRIu64 " h %" PRIu64 " min",
			      minutes / 60, minutes % 60);
	else
		strbuf_printf(buf, "%" PRIu64 " d %" PRIu64 " h",
			      minutes / 1440, minutes / 60 % 24);
}
