/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/estimate.h"

#include <math.h>

void estimate_add(struct call_estimate *estimate, const struct event *event)
{
	struct estimate_stratum *stratum =
		&estimate->strata[event->call->chosen.rate % ESTIMATE_RATES];
	const double ns = (double)event_mean_duration(event);

	stratum->calls++;
	stratum->weight += call_stands_for(event->call);
	stratum->ns += ns;
	stratum->squares += ns * ns;
	stratum->blur += (double)event->cost.resolution_ns;
	stratum->errors += event->kind == EVENT_RETURN && event->failed;
}

static void add(struct estimate_stratum *sum,
		const struct estimate_stratum *stratum)
{
	sum->calls += stratum->calls;
	sum->weight += stratum->weight;
	sum->ns += stratum->ns;
	sum->squares += stratum->squares;
	sum->blur += stratum->blur;
	sum->errors += stratum->errors;
}

/*
 * Fewer than these say little, and where calls become many at once the last of them
 * stands for half of all: then one that has lost the processor would, too. So they are
 * taken together with those of before, as if they had been chosen among the same.
 */
#define ENOUGH 16

/* Returns how many groups there are; the list gets those. */
static unsigned group(const struct call_estimate *estimate,
		      struct estimate_stratum *ret)
{
	struct estimate_stratum rest = { 0 };
	unsigned count = 0, rate = ESTIMATE_RATES;

	while (rate--) {
		add(&rest, &estimate->strata[rate]);
		if (rest.calls < ENOUGH)
			continue;
		ret[count++] = rest;
		rest = (struct estimate_stratum){ 0 };
	}
	if (rest.calls && count)
		add(&ret[count - 1], &rest);
	else if (rest.calls)
		ret[count++] = rest;
	return count;
}

/* By which the mean of the group is off, squared, as a rule. */
static double variance_of(const struct estimate_stratum *group)
{
	const double calls = (double)group->calls;
	const double spread = group->squares - group->ns * group->ns / calls;

	return spread > 0 && calls > 1 ? spread / (calls - 1) / calls : 0;
}

struct estimated estimate_all(const struct call_estimate *estimate)
{
	struct estimate_stratum all = { 0 };
	unsigned rate;

	for (rate = 0; rate < ESTIMATE_RATES; rate++)
		add(&all, &estimate->strata[rate]);
	if (!all.calls)
		return (struct estimated){ 0 };
	return (struct estimated){
		.known = true,
		.ns = all.ns / (double)all.calls,
		.blur = all.blur / (double)all.calls,
		.errors = all.errors / (double)all.calls,
	};
}

/* Of fewer nothing is known. */
#define LEAST 8

struct estimated estimate_mean(const struct call_estimate *estimate)
{
	struct estimate_stratum groups[ESTIMATE_RATES];
	const unsigned count = group(estimate, groups);
	struct estimated ret = { 0 };
	double weight = 0, variance = 0, off;
	unsigned i;

	if (!count || groups[0].calls < LEAST)
		return ret;
	ret.known = true;
	for (i = 0; i < count; i++)
		weight += groups[i].weight;
	for (i = 0; i < count; i++) {
		const double part = groups[i].weight / weight;
		const double each = part / (double)groups[i].calls;

		ret.ns += each * groups[i].ns;
		ret.blur += each * groups[i].blur;
		ret.errors += each * groups[i].errors;
		variance += part * part * variance_of(&groups[i]);
	}
	off = 2 * sqrt(variance);
	if (ret.ns <= off)
		ret.blur += fmax(ret.ns, 0) + off; /* chance alone */
	return ret;
}
