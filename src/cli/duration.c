/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/duration.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

/* Parts of a unit that are told apart. Times an hour it fits in 64 bits. */
#define FRACTION 1000000u

/* A century: it can be added to any time without overflow. */
#define SECONDS_MAX (100ull * 366 * 24 * 3600)

static const struct {
	const char *name;
	uint64_t nanoseconds;
} units[] = {
	{ "ms", NS_PER_SECOND / 1000 },
	{ "s", NS_PER_SECOND },
	{ "m", 60 * NS_PER_SECOND },
	{ "h", 3600 * NS_PER_SECOND },
};

static uint64_t unit_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(name, units[i].name))
			return units[i].nanoseconds;
	return 0;
}

/* Digits in decimal; stays at the limit when they say more. */
static uint64_t read_whole(const char **s, uint64_t limit)
{
	uint64_t n = 0;

	for (; **s >= '0' && **s <= '9'; ++*s) {
		n = n * 10 + (**s - '0');
		if (n > limit)
			n = limit;
	}
	return n;
}

static uint64_t read_fraction(const char **s)
{
	uint64_t n = 0;

	for (uint64_t scale = FRACTION / 10; **s >= '0' && **s <= '9'; ++*s) {
		n += (**s - '0') * scale;
		scale /= 10;
	}
	return n;
}

static int fail(char **message_ret, char *message)
{
	*message_ret = message;
	return -EINVAL;
}

int duration_parse(const char *text, uint64_t *ret, char **message_ret)
{
	const char *s = text;
	uint64_t whole = read_whole(&s, SECONDS_MAX * 1000);
	uint64_t fraction = 0;
	size_t digits = s - text;
	uint64_t unit, total;

	if (*s == '.') {
		s++;
		fraction = read_fraction(&s);
		digits = s - text - 1;
	}
	if (!digits)
		return fail(message_ret, xstrdup("a number with ms, s, m or h "
						 "is expected, as in 1.5s"));
	if (!*s)
		return fail(message_ret, xasprintf("no unit; say %ss, or use "
						   "ms, m or h",
						   text));
	unit = unit_of(s);
	if (!unit)
		return fail(message_ret, xasprintf("unknown unit '%s'; use "
						   "ms, s, m or h",
						   s));
	if (__builtin_mul_overflow(whole, unit, &total) ||
	    total / NS_PER_SECOND >= SECONDS_MAX)
		return fail(message_ret, xstrdup("longer than a century"));
	total += fraction * unit / FRACTION;
	if (!total)
		return fail(message_ret, xstrdup("this is no time at all"));
	*ret = total;
	return 0;
}
