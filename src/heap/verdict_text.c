/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "heap/verdict.h"

const char *verdict_name(enum verdict_level level)
{
	switch (level) {
	case VERDICT_NOT:
		return "NOT";
	case VERDICT_POSSIBLE:
		return "POSSIBLE";
	case VERDICT_LIKELY:
		return "LIKELY";
	}
	return "?";
}

/* A second. Where the median slope is 0, few came: the mean says more. */
static double rate_of(const struct verdict *verdict)
{
	double slope = verdict->trend.slope / (verdict->interval / 1e9);

	if (slope <= 0 && verdict->reason != VERDICT_LARGER && verdict->watched)
		return verdict->leaked_blocks / (verdict->watched / 1e9);
	return slope;
}

/* As many a second, minute or hour as give a number of at least 1. */
static void print_rate(const struct verdict *verdict, const char *unit,
		       struct strbuf *out)
{
	static const struct {
		double seconds;
		const char *name;
	} spans[] = { { 1, "second" },
		      { 60, "minute" },
		      { 3600, "hour" },
		      { 86400, "day" } };
	double each = rate_of(verdict);
	char number[32];
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(spans) && each * spans[i].seconds < 1)
		i++;
	each *= spans[i].seconds;
	snprintf(number, sizeof(number), "%.3g", each);
	if (each >= 999.5)
		strbuf_add_grouped(out, each + 0.5);
	else
		strbuf_puts(out, number);
	strbuf_printf(out, " %s%s a %s", unit, strcmp(number, "1") ? "s" : "",
		      spans[i].name);
}

static void print_time(struct strbuf *out, const char *before,
		       uint64_t nanoseconds, const char *behind)
{
	strbuf_puts(out, before);
	strbuf_add_duration(out, nanoseconds);
	strbuf_puts(out, behind);
}

/* To what precision it is worth saying. */
static uint64_t rounded_up(uint64_t time)
{
	uint64_t unit = time > 10 * 60 * NS_PER_SECOND ? 60 * NS_PER_SECOND :
			time > 60 * NS_PER_SECOND      ? 10 * NS_PER_SECOND :
							 NS_PER_SECOND;

	return (time + unit - 1) / unit * unit;
}

static void print_blocks(struct strbuf *out, uint64_t blocks)
{
	strbuf_add_grouped(out, blocks);
	strbuf_puts(out, blocks == 1 ? " block" : " blocks");
}

static void explain_share(const struct verdict *verdict, struct strbuf *out)
{
	if (verdict->leaked_blocks == verdict->blocks)
		return;
	strbuf_puts(out, "; about ");
	print_blocks(out, verdict->leaked_blocks);
	if (verdict->leaked_bytes) {
		strbuf_puts(out, " of ");
		strbuf_add_grouped(out, verdict->leaked_bytes);
		strbuf_puts(out, " bytes");
	}
	strbuf_puts(out, " are leaked");
}

static void explain_old(const struct verdict *verdict, struct strbuf *out)
{
	strbuf_add_grouped(out, verdict->old_blocks);
	strbuf_puts(out, " of ");
	print_blocks(out, verdict->blocks);
	strbuf_puts(out, " have outlived nearly all that were given back");
	print_time(out, " (", verdict->usual_lifetime, "");
	print_time(out, "; the oldest is ", verdict->oldest, ")");
}

static void explain_never_freed(const struct verdict *verdict,
				struct strbuf *out)
{
	strbuf_puts(out, "none of ");
	print_blocks(out, verdict->blocks);
	strbuf_puts(out, " was given back");
	print_time(out, " in ", verdict->watched, "");
	if (verdict->level == VERDICT_LIKELY || verdict->hasty) {
		strbuf_puts(out, ", and more keep coming: ");
		print_rate(verdict, "block", out);
	} else if (verdict->idle) {
		print_time(out,
			   "; whether there would be more is not known, "
			   "the process was idle for ",
			   verdict->idle, "");
	}
}

static void explain_together(const struct verdict *verdict, struct strbuf *out)
{
	if (verdict->share > 0) {
		strbuf_printf(out,
			      "too little by itself, but all that is held "
			      "grows steadily, and %.0f %% of that comes "
			      "from here",
			      100 * verdict->share);
		return;
	}
	strbuf_puts(out, "with other stacks of the same caller: none of ");
	print_blocks(out, verdict->together_blocks);
	print_time(out, " was given back in ", verdict->watched, "");
	strbuf_puts(out, ", and more keep coming: ");
	print_rate(verdict, "block", out);
}

/* What there is to say when it is no leak. */
static void explain_not(const struct verdict *verdict, const struct site *site,
			struct strbuf *out)
{
	switch (verdict->reason) {
	case VERDICT_ALL_FREED:
		if (!site->alloc_blocks) {
			strbuf_puts(out, "no call acquired anything");
			break;
		}
		strbuf_puts(out, "all of ");
		print_blocks(out, site->freed_blocks);
		strbuf_puts(out, " were given back");
		break;
	case VERDICT_FEW:
		if (site->samples)
			strbuf_puts(out, "too few of them are among what is "
					 "sampled");
		else
			strbuf_printf(out, "no more than %" PRIu64 " at a time",
				      site->blocks);
		break;
	case VERDICT_TOO_EARLY:
		print_time(out, "began only ", verdict->watched, " ago");
		break;
	case VERDICT_KEPT:
		print_blocks(out, verdict->blocks);
		strbuf_puts(out, " are kept, and there were no more");
		print_time(out, " for ", verdict->silence, "");
		break;
	case VERDICT_REPLACED:
		print_blocks(out, verdict->blocks);
		strbuf_puts(out, " are new, and ");
		print_blocks(out, verdict->replaced);
		strbuf_puts(out, " of before were given back meanwhile: they "
				 "live longer than was watched");
		break;
	case VERDICT_TURNOVER:
		print_time(out, "the oldest of them is ", verdict->oldest, "");
		print_time(out, ", and they live up to ",
			   verdict->usual_lifetime, "");
		break;
	default:
		strbuf_puts(out, "their number goes up and down");
		break;
	}
}

static void explain_unreachable(const struct verdict *verdict,
				struct strbuf *out)
{
	const struct site_reach *reach = verdict->reach;

	if (reach->lost_blocks == verdict->blocks) {
		strbuf_puts(out, verdict->blocks == 1 ? "its " : "all of its ");
		print_blocks(out, verdict->blocks);
		strbuf_puts(out, " can't be reached any more");
	} else {
		strbuf_add_grouped(out, reach->lost_blocks);
		strbuf_puts(out, " of ");
		print_blocks(out, verdict->blocks);
		strbuf_puts(out, ", ");
		strbuf_add_grouped(out, reach->lost_bytes);
		strbuf_puts(out, " bytes, can't be reached any more");
	}
	strbuf_puts(out, ": no pointer leads there");
}

static void explain_listed(const struct verdict *verdict, struct strbuf *out)
{
	strbuf_add_grouped(out, verdict->reach->listed_blocks);
	strbuf_puts(out, " of ");
	print_blocks(out, verdict->blocks);
	strbuf_puts(out,
		    " are what Python has dropped: kept for new objects, or "
		    "garbage that its collector hasn't come to, and will give "
		    "back unless gc is disabled");
	if (2 * verdict->reach->listed_blocks < verdict->blocks)
		strbuf_puts(out, "; others may be, too");
}

static void explain_collected(const struct verdict *verdict,
			      const struct family *family, struct strbuf *out)
{
	if (family->collected) {
		strbuf_add_grouped(out, verdict->blocks);
		strbuf_puts(out, " objects more, but a collector gives them "
				 "back in its own time");
		return;
	}
	print_blocks(out, verdict->blocks);
	strbuf_puts(out, " more, but what lies in them is given back by a "
			 "collector, in its own time");
}

static void explain_owner(const struct site_reach *reach, bool grows,
			  struct strbuf *out)
{
	strbuf_printf(out, ", %.0f %% of the bytes only through ",
		      100.0 * (double)reach->own_bytes / (double)reach->bytes);
	strbuf_puts(out, reach->owner);
	if (grows)
		strbuf_puts(out, ", which grows");
}

/* What else was found by looking. */
static void explain_reach(const struct verdict *verdict, struct strbuf *out)
{
	const struct site_reach *reach = verdict->reach;

	if (!reach || verdict->reason == VERDICT_UNREACHABLE ||
	    verdict->reason == VERDICT_LISTED || verdict->level == VERDICT_NOT)
		return;
	strbuf_puts(out, "; ");
	if (reach->lost_blocks) {
		print_blocks(out, reach->lost_blocks);
		strbuf_puts(out, " can't be reached any more");
	} else if (reach->blocks == verdict->blocks) {
		strbuf_puts(out, "all can still be reached");
	} else {
		strbuf_puts(out, "those looked at can still be reached");
	}
	if (reach->owner)
		explain_owner(reach,
			      verdict->level == VERDICT_LIKELY &&
				      !reach->lost_blocks,
			      out);
}

static void explain_samples(const struct site *site, struct strbuf *out)
{
	strbuf_puts(out, "; estimated from ");
	strbuf_add_grouped(out, site->samples);
	strbuf_puts(out, site->samples == 1 ? " sample" : " samples");
}

void verdict_explain(const struct verdict *verdict, const struct site *site,
		     struct strbuf *out)
{
	switch (verdict->reason) {
	case VERDICT_OLD_ONES:
		explain_old(verdict, out);
		explain_share(verdict, out);
		break;
	case VERDICT_OLD_AND_MORE:
		explain_old(verdict, out);
		strbuf_puts(out, ", and more keep coming: ");
		print_rate(verdict, "block", out);
		explain_share(verdict, out);
		break;
	case VERDICT_NEVER_FREED:
		explain_never_freed(verdict, out);
		break;
	case VERDICT_TOGETHER:
		explain_together(verdict, out);
		break;
	case VERDICT_BACKLOG:
		strbuf_puts(out, "all are given back in time, but they get "
				 "more: ");
		print_rate(verdict, "block", out);
		break;
	case VERDICT_LISTED:
		explain_listed(verdict, out);
		break;
	case VERDICT_COLLECTED:
		explain_collected(verdict, site->function->family, out);
		break;
	case VERDICT_OWNED:
		explain_old(verdict, out);
		strbuf_puts(out, ", but go with objects of JavaScript, which "
				 "its collector takes in its own time");
		break;
	case VERDICT_LARGER:
		strbuf_puts(out, "made larger again and again: ");
		print_rate(verdict, "byte", out);
		break;
	case VERDICT_UNREACHABLE:
		explain_unreachable(verdict, out);
		break;
	case VERDICT_SLOWED:
		strbuf_puts(out, "none of ");
		print_blocks(out, verdict->blocks);
		strbuf_puts(out,
			    " was given back, but ever fewer are added in as "
			    "many calls");
		break;
	default:
		explain_not(verdict, site, out);
		break;
	}
	explain_reach(verdict, out);
	if (verdict->hasty)
		strbuf_puts(out, "; too little was seen to be sure");
	if (site->samples)
		explain_samples(site, out);
	if (verdict->enough)
		print_time(out, "; too few yet: watch at least ",
			   rounded_up(verdict->enough), "");
}
