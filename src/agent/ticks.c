/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/ticks.h"

#include <cpuid.h>
#include <time.h>

#include "base/clock.h"

#define POWER_MANAGEMENT 0x80000007u
#define INVARIANT_TSC    (1u << 8) /* of its edx (Intel SDM 18.17.1) */

bool ticks_are_used(void)
{
	return true;
}

bool ticks_are_steady(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(POWER_MANAGEMENT, &eax, &ebx, &ecx, &edx) &&
	       edx & INVARIANT_TSC;
}

uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

uint64_t ticks_of_look(void)
{
	uint64_t least = UINT64_MAX;
	unsigned i;

	for (i = 0; i < 64; i++) {
		const uint64_t before = ticks_now();
		const uint64_t took = ticks_now() - before;

		least = took < least ? took : least;
	}
	return least;
}

/*
 * One moment on both clocks: of a few looks the one that took least, as we may
 * have lost the processor in the middle of the others.
 */
struct look {
	uint64_t ticks, ns;
};

static struct look look(void)
{
	struct look best = { 0 };
	uint64_t least = UINT64_MAX;
	unsigned i;

	for (i = 0; i < 8; i++) {
		uint64_t before = ticks_now(), ns = clock_now();
		uint64_t took = ticks_now() - before;

		if (took < least)
			best = (struct look){ before + took / 2, ns };
		least = took < least ? took : least;
	}
	return best;
}

void ticks_begin(struct ticks *ret)
{
	const struct look now = look();

	*ret = (struct ticks){ now.ticks, now.ns, 0 };
}

#define GAUGED_FOR 2000000

void ticks_gauge(struct ticks *ticks)
{
	const uint64_t passed = clock_now() - ticks->base_ns;
	const struct timespec rest = {
		.tv_nsec = passed < GAUGED_FOR ? GAUGED_FOR - passed : 0,
	};

	if (rest.tv_nsec)
		nanosleep(&rest, NULL);
	ticks_adjust(ticks);
}

void ticks_adjust(struct ticks *ticks)
{
	const struct look now = look();

	if (now.ticks > ticks->base && now.ns > ticks->base_ns)
		ticks->ns_per_tick = (double)(now.ns - ticks->base_ns) /
				     (double)(now.ticks - ticks->base);
}

uint64_t ticks_at(const struct ticks *ticks, uint64_t ns)
{
	if (ns >= ticks->base_ns)
		return ticks->base + ticks_in(ticks, ns - ticks->base_ns);
	return ticks->base - ticks_in(ticks, ticks->base_ns - ns);
}

uint64_t ticks_in(const struct ticks *ticks, uint64_t ns)
{
	return ticks->ns_per_tick > 0 ?
		       (uint64_t)((double)ns / ticks->ns_per_tick) :
		       ns;
}
