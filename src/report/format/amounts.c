/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"

#include <time.h>

#include "base/clock.h"

void amounts_add_number(struct strbuf *out, uint64_t number)
{
	strbuf_add_grouped(out, number);
}

void amounts_add_change(struct strbuf *out, uint64_t before, uint64_t now)
{
	if (before != now)
		strbuf_putc(out, now > before ? '+' : '-');
	amounts_add_number(out, now > before ? now - before : before - now);
}

void amounts_add_column(struct strbuf *out, uint64_t number, unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	amounts_add_number(&text, number);
	if (out->length && text.length >= width)
		strbuf_putc(out, ' ');
	strbuf_printf(out, "%*s", (int)width, strbuf_text(&text));
}

void amounts_add_count(struct strbuf *out, uint64_t number, const char *what)
{
	amounts_add_number(out, number);
	strbuf_printf(out, " %s%s", what, number == 1 ? "" : "s");
}

void amounts_add_size(struct strbuf *out, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	double size = bytes / 1024.0;
	size_t i = 0;

	if (bytes < 1024) {
		strbuf_printf(out, "%u B", (unsigned)bytes);
		return;
	}
	for (; size >= 1023.95 && i + 1 < ARRAY_SIZE(units); i++)
		size /= 1024;
	strbuf_printf(out, "%.1f %s", size, units[i]);
}

#define LARGE (UINT64_C(1) << 20) /* nobody reads such numbers at a glance */

void amounts_add_bytes(struct strbuf *out, uint64_t bytes)
{
	amounts_add_count(out, bytes, "byte");
	if (bytes < LARGE)
		return;
	strbuf_puts(out, " (");
	amounts_add_size(out, bytes);
	strbuf_putc(out, ')');
}

void amounts_add_held(struct strbuf *out, uint64_t bytes, uint64_t blocks)
{
	amounts_add_bytes(out, bytes);
	strbuf_puts(out, " in ");
	amounts_add_count(out, blocks, "block");
}

void amounts_add_date(struct strbuf *out, uint64_t wall)
{
	const time_t seconds = (time_t)(wall / NS_PER_SECOND);
	struct tm parts;
	char text[32];

	if (localtime_r(&seconds, &parts) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
		strbuf_puts(out, text);
	else
		strbuf_puts(out, "an unknown time");
}

void amounts_add_duration(struct strbuf *out, uint64_t nanoseconds)
{
	if (nanoseconds)
		strbuf_add_duration(out, nanoseconds);
	else
		strbuf_putc(out, '-');
}

void amounts_add_rate(struct strbuf *out, uint64_t number, uint64_t nanoseconds)
{
	double rate =
		nanoseconds ? (double)number * NS_PER_SECOND / nanoseconds : 0;

	if (rate >= 100)
		amounts_add_number(out, rate + 0.5);
	else
		strbuf_printf(out,
			      rate >= 10 || !number ? "%.0f" :
			      rate >= 1             ? "%.1f" :
						      "%.2f",
			      rate);
}

void amounts_add_time(struct strbuf *out, uint64_t nanoseconds,
		      uint64_t resolution)
{
	if (nanoseconds > resolution) {
		amounts_add_duration(out, nanoseconds);
		return;
	}
	strbuf_putc(out, '<');
	amounts_add_duration(out, resolution);
}

void amounts_add_duration_column(struct strbuf *out, uint64_t nanoseconds,
				 unsigned width)
{
	amounts_add_time_column(out, nanoseconds, 0, width);
}

/* A micro sign takes two bytes, and one column. */
void amounts_add_time_column(struct strbuf *out, uint64_t nanoseconds,
			     uint64_t resolution, unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	size_t columns = 0;

	if (resolution)
		amounts_add_time(&text, nanoseconds, resolution);
	else
		amounts_add_duration(&text, nanoseconds);
	for (size_t i = 0; i < text.length; i++)
		columns += (strbuf_text(&text)[i] & 0xc0) != 0x80;
	for (; columns < width; columns++)
		strbuf_putc(out, ' ');
	strbuf_puts(out, strbuf_text(&text));
}
