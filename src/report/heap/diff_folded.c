/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "report/format/names.h"
#include "report/heap/diff.h"

static void replace_semicolons(struct strbuf *out, size_t start)
{
	for (size_t i = start; i < out->length; i++)
		if (out->text[i] == ';')
			out->text[i] = ',';
}

static void add_name(const char *name, struct strbuf *out)
{
	size_t start = out->length;

	names_escape(out, *name ? name : "?");
	replace_semicolons(out, start);
	strbuf_putc(out, ';');
}

static void add_site(const struct heap_diff *diff, const struct diff_site *site,
		     struct strbuf *out)
{
	const struct profile_sample sample =
		profile_sample(site->profile, site->sample);

	size_t start;

	for (size_t i = sample.frame_count; i--;)
		add_name(sample.frames[i].function, out);
	start = out->length;
	heap_diff_add_allocator(diff, &sample, out);
	if (out->length == start && sample.frame_count)
		out->length--;
	replace_semicolons(out, start);
	strbuf_printf(out, " %" PRIu64 " %" PRIu64 "\n",
		      heap_diff_weight(diff, &site->before),
		      heap_diff_weight(diff, &site->now));
}

void heap_diff_fold(struct heap_diff *diff, struct strbuf *out)
{
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next)
		if (heap_diff_weight(diff, &site->before) ||
		    heap_diff_weight(diff, &site->now))
			add_site(diff, site, out);
}
