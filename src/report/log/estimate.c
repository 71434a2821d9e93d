/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/estimate.h"

#include <math.h>

static void add_event(struct estimate_stratum *stratum,
		      const struct event *event)
{
	const double waits = (double)event->cost.own_waits_ns;
	const double ns = (double)event_mean_duration(event) + waits;
	const double weight = call_stands_for(event->call);

	stratum->calls++;
	stratum->weight += weight;
	stratum->unsure += weight * (weight - 1);
	stratum->waits += waits;
	stratum->chance += (double)event->cost.chance_ns;
	stratum->wait = fmax(stratum->wait, (double)event->cost.wait_ns);
	stratum->late += (double)event->cost.late_ns;
	stratum->ns += ns;
	stratum->squares += ns * ns;
	stratum->blur += (double)event->cost.resolution_ns;
	stratum->errors += event->kind == EVENT_RETURN && event->failed;
}

void estimate_add(struct call_estimate *estimate, const struct event *event)
{
	add_event(&estimate->strata[event->call->chosen.rate % ESTIMATE_RATES],
		  event);
}

void estimate_add_clocked(struct call_estimate *estimate,
			  const struct event *event)
{
	add_event(&estimate->strata[!event->call->clock.certain], event);
}

static void add(struct estimate_stratum *sum,
		const struct estimate_stratum *stratum)
{
	sum->calls += stratum->calls;
	sum->weight += stratum->weight;
	sum->unsure += stratum->unsure;
	sum->waits += stratum->waits;
	sum->chance += stratum->chance;
	sum->wait = fmax(sum->wait, stratum->wait);
	sum->late += stratum->late;
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

/* The mean of a group is off by that squared, as a rule, where not all are in it. */
static double variance_of(const struct estimate_stratum *group)
{
	const double calls = (double)group->calls;
	const double spread = group->squares - group->ns * group->ns / calls;

	return spread > 0 && calls > 1 ?
		       spread / (calls - 1) / calls *
			       (1 - calls / fmax(group->weight, calls)) :
		       0;
}

struct estimated estimate_all(const struct call_estimate *estimate)
{
	struct estimate_stratum all = { 0 };
	double calls;
	unsigned rate;

	for (rate = 0; rate < ESTIMATE_RATES; rate++)
		add(&all, &estimate->strata[rate]);
	if (!all.calls)
		return (struct estimated){ 0 };
	calls = (double)all.calls;
	return (struct estimated){
		.known = true,
		.ns = all.ns / calls,
		.blur = (all.blur + all.waits) / calls,
		.errors = all.errors / calls,
	};
}

/* Of fewer nothing is known. */
#define LEAST 8

/* So many standard errors: of few calls, which mostly are brief and seldom long, the
   spread isn't known well either. */
static double errors_for(uint64_t calls)
{
	return 2 * (1 + 4.0 / (double)calls);
}

/*
 * So long so many calls may have waited for a processor in all, if that often they lost
 * it by chance, for so long each: the standard error. It is as in a row of such calls.
 */
static double chance_of_waits(double waits, double wait)
{
	return sqrt(2 * waits * wait);
}

static struct estimated mean_of(const struct estimate_stratum *groups,
				unsigned count)
{
	struct estimated ret = { 0 };
	double weight = 0, variance = 0, chance = 0, wait = 0;
	uint64_t calls = 0;
	unsigned i;

	for (i = 0; i < count; i++) {
		weight += groups[i].weight;
		calls += groups[i].calls;
	}
	if (!count || (groups[0].calls < LEAST && (double)calls < weight))
		return ret;
	ret.known = true;
	for (i = 0; i < count; i++) {
		const double part = groups[i].weight / weight;
		const double each = part / (double)groups[i].calls;

		ret.ns += each * groups[i].ns;
		ret.blur += each * (groups[i].blur + groups[i].waits);
		ret.errors += each * groups[i].errors;
		ret.late += each * groups[i].late;
		variance += part * part * variance_of(&groups[i]);
		chance += each * groups[i].chance;
		wait = fmax(wait, groups[i].wait);
	}
	/* Nor is it known of how many calls a group is. */
	for (i = 0; i < count; i++) {
		const struct estimate_stratum *group = &groups[i];
		const double mean = group->ns / (double)group->calls;

		variance += group->unsure / weight / weight * (mean - ret.ns) *
			    (mean - ret.ns);
	}
	ret.blur += errors_for(calls) * sqrt(variance) +
		    2 * chance_of_waits(chance * weight, wait) / weight;
	return ret;
}

struct estimated estimate_mean(const struct call_estimate *estimate)
{
	struct estimate_stratum groups[ESTIMATE_RATES];

	return mean_of(groups, group(estimate, groups));
}

struct estimated estimate_some(const struct call_estimate *estimate,
			       double calls)
{
	const struct estimate_stratum *certain = &estimate->strata[0];
	const struct estimate_stratum *chosen = &estimate->strata[1];
	struct estimate_stratum groups[2] = { { 0 }, *certain };

	if (certain->calls && chosen->calls >= LEAST) {
		groups[0] = *chosen;
		groups[1].weight = (double)certain->calls;
		groups[0].weight = calls - groups[1].weight;
		groups[0].unsure = groups[1].unsure = 0;
		return mean_of(groups, 2);
	}
	/* Those that aren't by chance are like others where they are most of them. */
	if ((double)(certain->calls + chosen->calls) * 2 < calls &&
	    chosen->calls < LEAST)
		return (struct estimated){ 0 };
	add(&groups[0], certain);
	add(&groups[0], chosen);
	groups[0].weight = calls;
	groups[0].unsure = 0;
	return mean_of(groups, 1);
}
