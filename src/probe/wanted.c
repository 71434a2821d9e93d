/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/near_word.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "probe/private.h"

/* Which of the user's filters have matched something, and which not yet. */

/* Names that a missing one is near to; copies. */
#define NEAR_NAMES 3

struct near_names {
	char *names[NEAR_NAMES];
	size_t count;
};

struct wanted_set {
	const struct filter *filter;
	const char *option;
	const char *never; /* what it means that nothing matched */
	bool *found;       /* these two by filter_count() */
	struct near_names *near;
};

struct wanted {
	struct wanted_set entries;
	struct wanted_set calls;
	struct wanted_set libraries;
	bool reported;
};

static void set_init(struct wanted_set *set, const struct filter *filter,
		     const char *option, const char *never)
{
	set->filter = filter;
	set->option = option;
	set->never = never;
	set->found = xcalloc(filter_count(filter), sizeof(*set->found));
	set->near = xcalloc(filter_count(filter), sizeof(*set->near));
}

static void set_fini(struct wanted_set *set)
{
	size_t i, j;

	for (i = 0; i < filter_count(set->filter); i++)
		for (j = 0; j < set->near[i].count; j++)
			free(set->near[i].names[j]);
	free(set->near);
	free(set->found);
}

struct wanted *wanted_new(const struct prober_config *config)
{
	struct wanted *wanted = xcalloc(1, sizeof(*wanted));

	set_init(&wanted->entries, config->entries, config->entries_option,
		 "no such function in any library that was loaded");
	set_init(&wanted->calls, config->calls, "-e",
		 "no module that was loaded calls such a function of another "
		 "(-x catches functions whoever calls them)");
	set_init(&wanted->libraries, config->libraries, "-l",
		 "no such library was loaded, or nothing calls it");
	return wanted;
}

void wanted_free(struct wanted *wanted)
{
	set_fini(&wanted->entries);
	set_fini(&wanted->calls);
	set_fini(&wanted->libraries);
	free(wanted);
}

static void set_found(struct wanted_set *set, const char *symbol,
		      const struct filter_library *library)
{
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++)
		if (!set->found[i] &&
		    filter_matches_one(set->filter, i, symbol, library))
			set->found[i] = true;
}

void wanted_found_entry(struct wanted *wanted, const char *symbol,
			const struct filter_library *library)
{
	set_found(&wanted->entries, symbol, library);
}

void wanted_found_call(struct wanted *wanted, const char *symbol,
		       const struct filter_library *from,
		       const struct filter_library *to)
{
	set_found(&wanted->calls, symbol, from);
	if (to)
		set_found(&wanted->libraries, symbol, to);
}

static bool is_listed(const struct near_names *near, const char *name)
{
	size_t i;

	for (i = 0; i < near->count; i++)
		if (!strcmp(near->names[i], name))
			return true;
	return false;
}

static void take_if_near(struct near_names *near, const char *name,
			 const char *other)
{
	if (near->count < NEAR_NAMES && near_word(name, other) &&
	    !is_listed(near, other))
		near->names[near->count++] = xstrdup(other);
}

/*
 * Operators have other names in sources. What else has, isn't looked at: to
 * demangle all symbols takes seconds.
 */
static void take_symbol(struct near_names *near, const char *name,
			const char *symbol)
{
	static const struct {
		const char *symbol;
		const char *name;
	} operators[] = {
		{ "_Znwm", "operator new" },
		{ "_Znam", "operator new[]" },
		{ "_ZdlPv", "operator delete" },
		{ "_ZdaPv", "operator delete[]" },
		{ "_Znwj", "operator new" },
		{ "_Znaj", "operator new[]" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strcmp(symbol, operators[i].symbol))
			take_if_near(near, name, operators[i].name);
	take_if_near(near, name, symbol);
}

/* -x: what the module has. */
static void look_in_symbols(struct near_names *near, const char *name,
			    const struct module *module)
{
	size_t count, i;
	const struct symbol *symbols = image_symbols(module->image, &count);

	for (i = 0; i < count; i++)
		take_symbol(near, name, symbols[i].name);
}

/* -e: what it calls. */
static void look_in_imports(struct near_names *near, const char *name,
			    const struct module *module)
{
	size_t count, i;
	const struct import *imports = image_imports(module->image, &count);

	for (i = 0; i < count; i++)
		take_symbol(near, name, imports[i].name);
}

static void look_for_near(struct wanted_set *set, const struct module *module,
			  void (*look)(struct near_names *near,
				       const char *name,
				       const struct module *module))
{
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++) {
		char *name CLEANUP(xfree_cleanup) =
			filter_written_name(set->filter, i);

		if (name && !set->found[i])
			look(&set->near[i], name, module);
	}
}

/* "; near: a, b", or nothing; the text is to be freed. */
static char *near_text(const struct near_names *near)
{
	struct strbuf text = { 0 };
	size_t i;

	for (i = 0; i < near->count; i++)
		strbuf_printf(&text, "%s%s",
			      i ? ", " : "; near: ", near->names[i]);
	return text.text ? text.text : xstrdup("");
}

static void report_missing(const struct wanted_set *set)
{
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++) {
		char *near CLEANUP(xfree_cleanup) = near_text(&set->near[i]);

		if (!set->found[i] && !filter_is_for_system(set->filter, i))
			diag(DIAG_NOTE, DIAG_PROBE,
			     "%s %s: no such function yet, waiting for it%s",
			     set->option, filter_text(set->filter, i), near);
	}
}

void wanted_modules(struct wanted *wanted, struct space *space)
{
	struct module *module;

	if (!space->linkmap.complete)
		return;
	for (module = space->modules; module; module = module->next) {
		if (!module->names_read) {
			look_for_near(&wanted->entries, module,
				      look_in_symbols);
			look_for_near(&wanted->calls, module, look_in_imports);
		}
		module->names_read = true;
	}
	if (!wanted->reported)
		report_missing(&wanted->entries);
	wanted->reported = true;
}

static void report_never(const struct wanted_set *set)
{
	size_t i;

	for (i = 0; i < filter_count(set->filter); i++) {
		char *near CLEANUP(xfree_cleanup) = near_text(&set->near[i]);

		if (set->found[i])
			continue;
		if (filter_is_for_system(set->filter, i))
			diag(DIAG_WARNING, DIAG_PROBE,
			     "%s %s: no such system call was made", set->option,
			     filter_text(set->filter, i));
		else
			diag(DIAG_WARNING, DIAG_PROBE,
			     "%s %s: never found: %s%s", set->option,
			     filter_text(set->filter, i), set->never, near);
	}
}

void wanted_report_never(const struct wanted *wanted)
{
	report_never(&wanted->entries);
	report_never(&wanted->calls);
	report_never(&wanted->libraries);
}
