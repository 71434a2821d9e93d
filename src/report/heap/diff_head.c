/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/diff.h"

/* What each of the two profiles is of. */

/* "20 allocations (2.0 a second)" */
static void add_rate(struct strbuf *out, uint64_t number, const char *what,
		     uint64_t ns)
{
	amounts_add_count(out, number, what);
	if (!ns)
		return;
	strbuf_puts(out, " (");
	amounts_add_rate(out, number, ns);
	strbuf_puts(out, " a second)");
}

/* Of Go's profiles most have no duration, and some no time. */
static void add_watch(const struct profile *profile, struct strbuf *out)
{
	const struct profile_times times = profile_times(profile);

	strbuf_puts(out, "    ");
	if (times.wall) {
		amounts_add_date(out, times.wall);
		strbuf_puts(out, ", ");
	}
	if (times.watched) {
		strbuf_puts(out, "watched for ");
		amounts_add_duration(out, times.watched);
		strbuf_puts(out, ", ");
	}
	add_rate(out, profile_total(profile, PROFILE_ALLOC_OBJECTS),
		 profile_growth(profile) ? "call" : "allocation",
		 times.watched);
	strbuf_puts(out, ", ");
	add_rate(out, profile_total(profile, PROFILE_ALLOC_SPACE), "byte",
		 times.watched);
	strbuf_putc(out, '\n');
}

void heap_diff_add_profile(const char *what, const char *path,
			   const struct profile *profile, struct strbuf *out)
{
	strbuf_printf(out, "%s: %s", what, path);
	if (*profile_comment(profile)) {
		strbuf_puts(out, " (");
		names_escape(out, profile_comment(profile));
		strbuf_putc(out, ')');
	}
	strbuf_putc(out, '\n');
	add_watch(profile, out);
}
