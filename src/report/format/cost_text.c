/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/cost_text.h"

#include "report/format/amounts.h"
#include "report/format/names.h"

/* Threads that stand still for less don't matter beside others. */
#define SHARE_MIN 0.005
/* Below that nobody can tell how fast the program still runs. */
#define SPEED_MIN 0.02

static void add_percent(double share, struct strbuf *out)
{
	const double percent = share * 100;

	strbuf_printf(out, percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
}

static void add_speed(double share, struct strbuf *out)
{
	double speed = 1 - share;

	strbuf_puts(out, speed < SPEED_MIN ? " at less than " : " at about ");
	add_percent(speed < SPEED_MIN ? SPEED_MIN : speed, out);
	strbuf_puts(out, " of its speed");
}

static void add_thread(const struct thread_cost *thread, struct strbuf *out)
{
	strbuf_printf(out, "%d", (int)thread->tid);
	if (thread->name[0]) {
		strbuf_puts(out, " (");
		names_escape(out, thread->name);
		strbuf_putc(out, ')');
	}
}

/* Those behind the first. */
static void add_others(const struct cost *cost, struct strbuf *out)
{
	bool more = cost->more;

	for (unsigned i = 1; i < cost->thread_count; i++) {
		const struct thread_cost *thread = &cost->threads[i];

		if (cost_share(thread) < SHARE_MIN) {
			more = true;
			continue;
		}
		strbuf_puts(out, ", ");
		add_thread(thread, out);
		strbuf_puts(out, " for ");
		add_percent(cost_share(thread), out);
	}
	if (more)
		strbuf_puts(out, ", others for less");
}

static void add_share(const struct cost *cost, struct strbuf *out)
{
	const struct thread_cost *first = &cost->threads[0];
	bool several = cost->thread_count > 1 &&
		       cost_share(&cost->threads[1]) >= SHARE_MIN;
	double share = cost_share(first);

	strbuf_puts(out, several ? "thread " : "the program");
	if (several)
		add_thread(first, out);
	strbuf_puts(out, " stood still for ");
	add_percent(share, out);
	strbuf_puts(out, " of the time watched, and ran");
	add_speed(share, out);
	if (several)
		add_others(cost, out);
}

void cost_text_add(const struct cost *cost, struct strbuf *out)
{
	amounts_add_count(out, cost->stops, "stop");
	if (!cost->thread_count)
		return;
	strbuf_puts(out, "; ");
	add_share(cost, out);
	if (!cost->price.typical)
		return;
	strbuf_puts(out, "; times are told to ");
	amounts_add_duration(out, cost->price.resolution);
}
