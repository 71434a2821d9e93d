/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "report/format/amounts.h"
#include "report/format/names.h"
#include "report/heap/diff.h"

/* The table of `calltrap heap diff'. */

enum change {
	CHANGE_NEW,
	CHANGE_GROWN,
	CHANGE_SHRUNK,
	CHANGE_GONE,
	CHANGE_NONE,
	CHANGES,
};

/* ---- per second ---- */

static double per_second(uint64_t number, uint64_t ns)
{
	return number * 1e9 / ns;
}

/* What is counted varies by its square root: three times that, and a tenth, is
   nothing. variance: of the difference of the two. */
static bool is_alike(double before, double now, double variance)
{
	const double larger = before > now ? before : now;
	const double apart = before > now ? before - now : now - before;
	const double more = apart - larger / 10;

	return more <= 0 || more * more <= 9 * variance;
}

static double mean_size(const struct diff_amount *amount)
{
	return amount->blocks ? (double)amount->bytes / amount->blocks : 0;
}

static bool is_as_fast(const struct heap_diff *diff,
		       const struct diff_site *site)
{
	const struct diff_amount *before = &site->before, *now = &site->now;
	const double of_before = 1e9 / diff->before_ns;
	const double of_now = 1e9 / diff->now_ns;
	const double variance = before->blocks * of_before * of_before +
				now->blocks * of_now * of_now;
	const double size = mean_size(before) > mean_size(now) ?
				    mean_size(before) :
				    mean_size(now);

	return is_alike(before->blocks * of_before, now->blocks * of_now,
			variance) &&
	       is_alike(before->bytes * of_before, now->bytes * of_now,
			variance * size * size);
}

/* What there would have been before if it had been watched as long as now. */
static uint64_t as_long(const struct heap_diff *diff, uint64_t before)
{
	return heap_diff_is_by_time(diff) ?
		       (uint64_t)((double)before * diff->now_ns /
					  diff->before_ns +
				  0.5) :
		       before;
}

/* ---- kinds of changes ---- */

static enum change change_of(const struct heap_diff *diff,
			     const struct diff_site *site)
{
	const struct diff_amount *before = &site->before, *now = &site->now;
	const uint64_t bytes = as_long(diff, before->bytes);

	if (before->bytes == now->bytes && before->blocks == now->blocks &&
	    !heap_diff_is_by_time(diff))
		return CHANGE_NONE;
	if (diff_amount_is_nothing(before))
		return diff_amount_is_nothing(now) ? CHANGE_NONE : CHANGE_NEW;
	if (diff_amount_is_nothing(now))
		return CHANGE_GONE;
	if (heap_diff_is_by_time(diff) && is_as_fast(diff, site))
		return CHANGE_NONE;
	if (bytes != now->bytes)
		return now->bytes > bytes ? CHANGE_GROWN : CHANGE_SHRUNK;
	return now->blocks > as_long(diff, before->blocks) ? CHANGE_GROWN :
							     CHANGE_SHRUNK;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct diff_site *x = *(struct diff_site *const *)a;
	const struct diff_site *y = *(struct diff_site *const *)b;
	const struct heap_diff *diff = context;
	uint64_t of_x = distance(as_long(diff, x->before.bytes), x->now.bytes);
	uint64_t of_y = distance(as_long(diff, y->before.bytes), y->now.bytes);

	if (!heap_diff_is_in_bytes(diff) || of_x == of_y) {
		of_x = distance(as_long(diff, x->before.blocks), x->now.blocks);
		of_y = distance(as_long(diff, y->before.blocks), y->now.blocks);
	}
	return (of_x < of_y) - (of_x > of_y);
}

#define SECONDS 1000 /* of which rates are told: so they keep what is small */

static void add_rate_change(const struct heap_diff *diff, struct strbuf *out,
			    uint64_t before, uint64_t now)
{
	const double change = per_second(now, diff->now_ns) -
			      per_second(before, diff->before_ns);
	const double apart = change < 0 ? -change : change;

	strbuf_puts(out, apart * SECONDS < 0.5 ? "" : change < 0 ? "-" : "+");
	amounts_add_rate(out, (uint64_t)(apart * SECONDS + 0.5),
			 SECONDS * NS_PER_SECOND);
}

static void add_change(const struct heap_diff *diff, struct strbuf *out,
		       uint64_t before, uint64_t now)
{
	if (heap_diff_is_by_time(diff))
		add_rate_change(diff, out, before, now);
	else
		amounts_add_change(out, before, now);
}

static void add_change_column(const struct heap_diff *diff, struct strbuf *out,
			      uint64_t before, uint64_t now, unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	add_change(diff, &text, before, now);
	strbuf_printf(out, "%*s", (int)width, strbuf_text(&text));
}

/* ns: how long it was watched. */
static void add_bytes_column(const struct heap_diff *diff, struct strbuf *out,
			     uint64_t bytes, uint64_t ns, unsigned width)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (heap_diff_is_by_time(diff))
		amounts_add_rate(&text, bytes, ns);
	else
		amounts_add_number(&text, bytes);
	strbuf_printf(out, "%*s", (int)width, strbuf_text(&text));
}

static void add_frames(const struct profile_sample *sample, struct strbuf *out)
{
	for (size_t i = 0; i < sample->frame_count; i++) {
		const struct profile_frame *frame = &sample->frames[i];

		strbuf_puts(out, "        ");
		names_escape(out, *frame->function ? frame->function : "?");
		if (*frame->file) {
			strbuf_putc(out, ' ');
			names_escape(out, frame->file);
			if (frame->line)
				strbuf_printf(out, ":%" PRIu64, frame->line);
		}
		strbuf_putc(out, '\n');
	}
}

/* "malloc by leak" */
static void add_caller(const struct heap_diff *diff,
		       const struct profile_sample *sample, struct strbuf *out)
{
	const char *by = *sample->caller     ? sample->caller :
			 sample->frame_count ? sample->frames[0].function :
					       "";
	size_t start = out->length;

	heap_diff_add_allocator(diff, sample, out);
	if (*by && out->length > start)
		strbuf_puts(out, " by ");
	names_escape(out, by);
}

static void add_site(const struct heap_diff *diff, const struct diff_site *site,
		     struct strbuf *out)
{
	const struct profile_sample sample =
		profile_sample(site->profile, site->sample);

	add_change_column(diff, out, site->before.bytes, site->now.bytes, 14);
	add_change_column(diff, out, site->before.blocks, site->now.blocks, 11);
	add_bytes_column(diff, out, site->before.bytes, diff->before_ns, 14);
	add_bytes_column(diff, out, site->now.bytes, diff->now_ns, 14);
	strbuf_puts(out, "  ");
	if (diff->by == HEAP_DIFF_BY_STACK)
		add_caller(diff, &sample, out);
	else
		names_escape(out, heap_diff_group(diff, &sample));
	strbuf_putc(out, '\n');
	if (diff->by == HEAP_DIFF_BY_STACK)
		add_frames(&sample, out);
}

static const char *const titles[CHANGES] = {
	[CHANGE_NEW] = "new",        [CHANGE_GROWN] = "grown",
	[CHANGE_SHRUNK] = "shrunk",  [CHANGE_GONE] = "gone",
	[CHANGE_NONE] = "as before",
};

static void add_sites(const struct heap_diff *diff, enum change change,
		      unsigned top, struct strbuf *out)
{
	size_t count = 0, i;
	struct diff_site **list CLEANUP(xfree_cleanup) =
		xcalloc(HASH_COUNT(diff->sites) + 1, sizeof(*list));
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next)
		if (change_of(diff, site) == change)
			list[count++] = site;
	if (!count)
		return;
	qsort_r(list, count, sizeof(*list), compare, (void *)diff);
	strbuf_printf(out,
		      "---- %s%s\n         bytes %9ss  bytes before"
		      "     bytes now  what\n",
		      titles[change],
		      heap_diff_is_by_time(diff) ? ", per second" : "",
		      heap_diff_counted(diff));
	for (i = 0; i < count && (!top || i < top); i++)
		add_site(diff, list[i], out);
	if (i < count) {
		amounts_add_count(out, count - i, "more row");
		strbuf_puts(out, " (--top)\n");
	}
}

struct change_sum {
	uint64_t sites;
	struct diff_amount before, now;
};

static void add_changes(const struct heap_diff *diff,
			const struct diff_amount *before,
			const struct diff_amount *now, struct strbuf *out)
{
	add_change(diff, out, before->bytes, now->bytes);
	strbuf_puts(out, " bytes, ");
	add_change(diff, out, before->blocks, now->blocks);
	strbuf_printf(out, " %ss%s\n", heap_diff_counted(diff),
		      heap_diff_is_by_time(diff) ? " a second" : "");
}

static void add_groups(const struct heap_diff *diff, uint64_t number,
		       struct strbuf *out)
{
	static const struct {
		const char *one, *many;
	} words[] = {
		[HEAP_DIFF_BY_STACK] = { "site", "sites" },
		[HEAP_DIFF_BY_LIBRARY] = { "library", "libraries" },
		[HEAP_DIFF_BY_COMPONENT] = { "component", "components" },
	};

	amounts_add_number(out, number);
	strbuf_printf(out, " %s",
		      number == 1 ? words[diff->by].one : words[diff->by].many);
}

static void add_sums(const struct heap_diff *diff, struct strbuf *out)
{
	struct change_sum sums[CHANGES] = { 0 };
	struct diff_site *site, *next;

	HASH_ITER(hh, diff->sites, site, next) {
		struct change_sum *sum = &sums[change_of(diff, site)];

		if (diff_amount_is_nothing(&site->before) &&
		    diff_amount_is_nothing(&site->now))
			continue;
		sum->sites++;
		diff_amount_add(&sum->before, &site->before);
		diff_amount_add(&sum->now, &site->now);
	}
	for (int change = 0; change < CHANGES; change++) {
		const struct change_sum *sum = &sums[change];

		strbuf_printf(out, "%s: ", titles[change]);
		add_groups(diff, sum->sites, out);
		strbuf_puts(out, ", ");
		add_changes(diff, &sum->before, &sum->now, out);
	}
}

static void add_amount(const struct heap_diff *diff,
		       const struct diff_amount *amount, uint64_t ns,
		       struct strbuf *out)
{
	amounts_add_bytes(out, amount->bytes);
	strbuf_puts(out, diff->growth ? " by " : " in ");
	amounts_add_count(out, amount->blocks, heap_diff_counted(diff));
	if (!heap_diff_is_by_time(diff))
		return;
	strbuf_puts(out, " in ");
	amounts_add_duration(out, ns);
}

static const char *subject(const struct heap_diff *diff)
{
	if (diff->growth)
		return heap_diff_is_in_use(diff) ? "still there" : "grown";
	switch (diff->value) {
	case HEAP_PEAK_BYTES:
	case HEAP_PEAK_BLOCKS:
		return "at the peak";
	case HEAP_TEMPORARY_BLOCKS:
		return "temporary";
	default:
		return heap_diff_is_in_use(diff) ? "in use" : "allocated";
	}
}

void heap_diff_print(struct heap_diff *diff, unsigned top, struct strbuf *out)
{
	strbuf_printf(out, "%s: ", subject(diff));
	add_amount(diff, &diff->before, diff->before_ns, out);
	strbuf_puts(out, " before, ");
	add_amount(diff, &diff->now, diff->now_ns, out);
	strbuf_puts(out, " now: ");
	add_changes(diff, &diff->before, &diff->now, out);
	if (heap_diff_is_by_time(diff))
		strbuf_puts(out, "each was watched for a time of its own: they "
				 "are compared per second\n");
	add_sums(diff, out);
	for (int change = 0; change < CHANGE_NONE; change++)
		add_sites(diff, change, top, out);
}
