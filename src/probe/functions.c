/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "probe/private.h"

/* Every function of the session, once. */

struct function_entry {
	char *key;
	struct function function;
	/* Where it is defined, as long as function.prototype_later. */
	struct image *image;
	uint64_t address;
	bool asked; /* for good: libraries may come and go for ever */
	/* What it has unless debug information knows better; or NULL. */
	const struct prototype *guessed;
	UT_hash_handle hh;
};

struct functions {
	struct function_entry *entries;
};

/* Functions whose return nobody will ever see. */
static const char *const never_returning[] = {
	"_Exit",
	"_Unwind_Resume",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_call_unexpected",
	"__cxa_rethrow",
	"__cxa_throw",
	"__fortify_fail",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__uClibc_main",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

static enum function_return how_it_returns(const char *name)
{
	return bsearch(name, never_returning, ARRAY_SIZE(never_returning),
		       sizeof(never_returning[0]), compare_names) ?
		       RETURNS_NEVER :
		       RETURNS_ONCE;
}

struct functions *functions_new(void)
{
	return xcalloc(1, sizeof(struct functions));
}

static void free_entry(struct function_entry *entry)
{
	free(entry->function.name);
	free(entry->function.library);
	free(entry->function.caller);
	image_put(entry->image);
	free(entry->key);
	free(entry);
}

void functions_free(struct functions *functions)
{
	struct function_entry *entry, *next;

	HASH_ITER(hh, functions->entries, entry, next) {
		HASH_DEL(functions->entries, entry);
		free_entry(entry);
	}
	free(functions);
}

static char *copy_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static struct function_entry *new_entry(struct prober *prober, const char *name,
					enum function_place place,
					const struct module *definer,
					const struct module *caller)
{
	struct function_entry *entry = xcalloc(1, sizeof(*entry));
	struct function *function = &entry->function;

	function->name = xstrdup(name);
	function->library =
		definer && !definer->is_main ? xstrdup(definer->name) : NULL;
	function->caller = copy_or_null(caller ? caller->name : NULL);
	function->place = place;
	function->returns = how_it_returns(name);
	function->prototype = prototypes_find(prober->config.prototypes,
					      definer ? definer->name : NULL,
					      name);
	if (!function->prototype && !(definer && definer->is_main))
		function->prototype =
			prototypes_find_last(prober->config.prototypes, name);
	return entry;
}

struct function *function_get(struct prober *prober, const char *name,
			      enum function_place place,
			      const struct module *definer,
			      const struct module *caller)
{
	struct functions *functions = prober->functions;
	struct function_entry *entry;
	char *key = xasprintf("%d\n%s\n%s\n%s", place, name,
			      definer ? definer->name : "",
			      caller ? caller->name : "");

	HASH_FIND_STR(functions->entries, key, entry);
	if (entry) {
		free(key);
		return &entry->function;
	}
	entry = new_entry(prober, name, place, definer, caller);
	entry->key = key;
	HASH_ADD_KEYPTR(hh, functions->entries, key, strlen(key), entry);
	return &entry->function;
}

/* ---- libraries in static programs ---- */

static struct function_entry *entry_of(const struct function *function)
{
	return (struct function_entry *)((char *)function -
					 offsetof(struct function_entry,
						  function));
}

bool function_is_linked_in(const struct module *module)
{
	return module->is_main && !image_interpreter(module->image) &&
	       image_find_symbol(module->image, "__libc_start_main");
}

void function_linked(struct prober *prober, struct function *function,
		     const struct module *module)
{
	static const char *const libraries[] = { "libc.so", "libm.so",
						 "libstdc++.so" };
	const struct prototype *found = NULL;

	if (function->prototype || !module->is_main)
		return;
	for (size_t i = 0; !found && i < ARRAY_SIZE(libraries); i++)
		found = prototypes_find(prober->config.prototypes, libraries[i],
					function->name);
	/* Not one of its own that has the name of a library's by chance. */
	if (!found)
		function->prototype =
			prototypes_find_last(prober->config.prototypes,
					     function->name);
	if (!found || !function_is_linked_in(module))
		return;
	entry_of(function)->guessed = found;
	if (!prober->config.debuginfo)
		function->prototype = found;
}

/* ---- prototypes from debug information ---- */

/*
 * Copies that the compiler made of a function, for callers that pass less than
 * its type says, or parts of one.
 */
static bool is_partial(const char *name)
{
	static const char *const marks[] = {
		".cold",
		".constprop.",
		".isra.",
		".part.",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (strstr(name, marks[i]))
			return true;
	return false;
}

void function_defined(struct prober *prober, const struct function *function,
		      const struct module *module, uint64_t address)
{
	struct function_entry *entry = entry_of(function);

	if (function->prototype || entry->image || entry->asked ||
	    !prober->config.debuginfo || is_partial(function->name))
		return;
	entry->function.prototype_later = true;
	entry->image = image_get(module->image);
	entry->address = address;
}

void function_called(struct prober *prober, const struct function *function)
{
	const struct debug_function *described;
	struct function_entry *entry;
	int err;

	if (!function->prototype_later)
		return;
	entry = entry_of(function);
	err = debuginfo_function(prober->config.debuginfo, entry->image,
				 entry->address, &described);
	if (err == -EAGAIN)
		return;
	entry->function.prototype =
		err ? entry->guessed :
		      prototypes_from_debuginfo(prober->config.prototypes,
						described);
	entry->asked = true;
	entry->function.prototype_later = false;
	image_put(entry->image);
	entry->image = NULL;
}
