/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "probe/private.h"

/* Which of the user's filters have matched something, and which not yet. */

struct wanted_set {
	const struct filter *filter;
	const char *option;
	bool *found; /* by filter_count() */
};

struct wanted {
	struct wanted_set entries;
	struct wanted_set calls;
	bool reported;
};

static void set_init(struct wanted_set *set, const struct filter *filter,
		     const char *option)
{
	set->filter = filter;
	set->option = option;
	set->found = xcalloc(filter_count(filter), sizeof(*set->found));
}

struct wanted *wanted_new(const struct prober_config *config)
{
	struct wanted *wanted = xcalloc(1, sizeof(*wanted));

	set_init(&wanted->entries, config->entries, "-x");
	set_init(&wanted->calls, config->calls, "-e");
	return wanted;
}

void wanted_free(struct wanted *wanted)
{
	free(wanted->entries.found);
	free(wanted->calls.found);
	free(wanted);
}

void wanted_found(struct wanted *wanted, enum function_place place,
		  const char *symbol, const struct filter_library *library)
{
	struct wanted_set *set = place == FUNCTION_ENTRY ? &wanted->entries :
							   &wanted->calls;
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++)
		if (!set->found[i] &&
		    filter_matches_one(set->filter, i, symbol, library))
			set->found[i] = true;
}

/* Names within two edits; longer words may differ by more. */
#define NEAR_DISTANCE 2
#define NEAR_NAMES 3
#define NEAR_LENGTH 64

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance of words of at most NEAR_LENGTH. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NEAR_LENGTH + 1], n = strlen(b), i, j;

	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (j = 0; j < n; j++) {
			size_t above = row[j + 1];

			row[j + 1] = least(above + 1, row[j] + 1,
					   diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[n];
}

static bool is_near(const char *name, const char *other)
{
	size_t a = strlen(name), b = strlen(other);

	if (a > NEAR_LENGTH || b > NEAR_LENGTH ||
	    a + NEAR_DISTANCE < b || b + NEAR_DISTANCE < a)
		return false;
	/* Two edits turn any word of three letters into any other. */
	return distance(name, other) <= (a < 5 ? 1 : NEAR_DISTANCE);
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static size_t near_names(struct space *space, const char *name,
			 const char **ret)
{
	const struct module *module;
	size_t n = 0;

	for (module = space->modules; module; module = module->next) {
		size_t count, i;
		const struct symbol *symbols =
			image_symbols(module->image, &count);

		for (i = 0; i < count && n < NEAR_NAMES; i++)
			if (is_near(name, symbols[i].name) &&
			    !is_listed(ret, n, symbols[i].name))
				ret[n++] = symbols[i].name;
	}
	return n;
}

static void add_near_names(struct strbuf *text, struct space *space,
			   const char *name)
{
	const char *near[NEAR_NAMES];
	size_t i, count = near_names(space, name, near);

	for (i = 0; i < count; i++)
		strbuf_printf(text, "%s%s", i ? ", " : "; near: ", near[i]);
}

static void report_one(const struct wanted_set *set, size_t i,
		       struct space *space)
{
	const char *name = filter_plain_name(set->filter, i);
	struct strbuf text = { 0 };

	strbuf_printf(&text, "%s %s: no such function yet, waiting for it",
		      set->option, filter_text(set->filter, i));
	if (name)
		add_near_names(&text, space, name);
	diag(DIAG_NOTE, DIAG_PROBE, "%s", strbuf_text(&text));
	strbuf_fini(&text);
}

void wanted_report_missing(struct wanted *wanted, struct space *space)
{
	const struct wanted_set *set = &wanted->entries;
	size_t i;

	if (wanted->reported || !space->linkmap.complete)
		return;
	wanted->reported = true;
	for (i = 0; i < filter_count(set->filter); i++)
		if (!set->found[i])
			report_one(set, i, space);
}

static void report_never(const struct wanted_set *set)
{
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++)
		if (!set->found[i])
			diag(DIAG_WARNING, DIAG_PROBE,
			     "%s %s: never found: no such function in any "
			     "library that was loaded",
			     set->option, filter_text(set->filter, i));
}

void wanted_report_never(const struct wanted *wanted)
{
	report_never(&wanted->entries);
	report_never(&wanted->calls);
}
