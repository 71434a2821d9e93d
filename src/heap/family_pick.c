/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/family_pick.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* A function that goes by names of several forms. */
struct formless {
	struct family_function function;
	struct formless *next;
};

struct family_pick {
	struct prober_pick ops;
	const struct families *families;
	enum growth_by growth;
	struct formless *formless;
	bool *missing; /* by family->index: some acquisitions aren't seen */
	bool timed;
	bool in_order;
	bool waits;
	bool found;
};

/* glibc's dynamic linker has a malloc for itself, until libc is there. */
static bool is_linkers_own(const struct module *module)
{
	return module->is_linker && !strncmp(module->name, "ld-linux", 8);
}

/*
 * The exception that operator new throws is made within it, and given back when
 * it was caught: by the program, or within the operator new that throws nothing.
 */
static bool is_apart(const char *symbol)
{
	return !strcmp(symbol, "__cxa_allocate_exception") ||
	       !strcmp(symbol, "__cxa_free_exception");
}

/*
 * What glibc's malloc does at the end of a thread: it calls free() for what is
 * its own. Only static programs have the symbol, in others free() is reached
 * by another way.
 */
static bool is_inside(const char *symbol)
{
	return !strcmp(symbol, "__malloc_arena_thread_freeres");
}

static bool grows(const struct family_pick *pick, const char *symbol)
{
	return pick->growth == GROWTH_BY_FUNCTIONS &&
	       (growth_wants(symbol) || growth_is_end(symbol));
}

/* Where a call waits for somebody else. */
static const char *const waits[] = {
	"accept",   "accept4",    "connect",  "epoll_pwait", "epoll_wait",
	"fsync",    "poll",       "ppoll",    "pread",       "pread64",
	"pselect",  "pwrite",     "pwrite64", "read",        "readv",
	"recv",     "recvfrom",   "recvmsg",  "select",      "send",
	"sendfile", "sendfile64", "sendmsg",  "sendto",      "write",
	"writev",
};

static int compare_names(const void *key, const void *element)
{
	return strcmp(key, *(const char *const *)element);
}

static bool is_wait(const struct family_pick *pick, const char *symbol)
{
	return pick->waits && bsearch(symbol, waits, ARRAY_SIZE(waits),
				      sizeof(*waits), compare_names);
}

/* glibc's, which was two libraries once, and musl's. */
static bool is_c_library(const struct module *module)
{
	return !strncmp(module->name, "libc.", 5) ||
	       !strncmp(module->name, "libpthread.so", 13) ||
	       !strncmp(module->name, "ld-musl-", 8);
}

static bool wants(void *context, const char *symbol,
		  const struct module *module)
{
	const struct family_pick *pick = context;

	if (grows(pick, symbol) ||
	    (is_wait(pick, symbol) && is_c_library(module)))
		return true;
	return families_count(pick->families) &&
	       (families_find(pick->families, symbol) || is_apart(symbol) ||
		is_inside(symbol)) &&
	       !is_linkers_own(module);
}

static bool wants_call(void *context UNUSED, const char *name)
{
	return growth_wants(name) || growth_is_end(name);
}

static bool same_form(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_basic(const struct family_function *function)
{
	return same_form(function->form, function->family->functions[0]->form);
}

/* An object that is being made ready has been there before. */
static bool is_there_already(const struct family_function *function)
{
	return function->act == FAMILY_ACQUIRE && function->family->collected &&
	       function->handle.kind == OPERAND_ARGUMENT;
}

static bool is_told_by_entry(const struct family_function *function)
{
	return function->success.compare == COMPARE_ALWAYS &&
	       (is_there_already(function) ||
		(function->act == FAMILY_RELEASE &&
		 function->size.kind == OPERAND_NONE && is_basic(function)));
}

/*
 * A release is told by its entry, unless it may fail, or is of a form that
 * stands upon another: operator delete calls free, which must not count then.
 */
static bool is_done_at_entry(const struct family_function *function)
{
	for (; function; function = function->next)
		if (!is_told_by_entry(function))
			return false;
	return true;
}

/*
 * Functions that call others stand for them: all of a family, and all that
 * count bytes (operator new for malloc, malloc for mmap), but for objects, which
 * come with pages that serve many. A handle of another
 * family is one of its own, however it is called: an EVP_PKEY_CTX has an
 * EVP_MD_CTX, and both count contexts.
 */
static unsigned group_of(const struct family *family)
{
	return family->has_size && !family->collected ?
		       1 :
		       1 + (1 + family->index) % UINT8_MAX;
}

static bool is_argument(const struct operand *operand, unsigned index)
{
	return operand->kind == OPERAND_ARGUMENT && operand->index == index &&
	       !operand->width;
}

/* What a call asks for, where engines can tell. */
static bool sampled_size(const struct operand *size, struct sampled_by *ret)
{
	const bool is_product = size->kind == OPERAND_PRODUCT;

	ret->size = size->index;
	ret->factor = is_product ? size->second : SAMPLED_NO_ARGUMENT;
	return (is_product || size->kind == OPERAND_ARGUMENT) && !size->width &&
	       size->index < SAMPLED_NO_ARGUMENT &&
	       (!is_product || size->second < SAMPLED_NO_ARGUMENT);
}

static bool is_result(const struct operand *operand)
{
	return operand->kind == OPERAND_RESULT && !operand->width;
}

/* One pointer, where the first argument says. */
static bool is_stored(const struct operand *operand)
{
	return operand->kind == OPERAND_STORED && !operand->index &&
	       operand->count <= 1 && !operand->width;
}

/* By the bytes that it asks for; .act 0: only who keeps books can do that. */
static struct sampled_by sampled_by(const struct family_function *function)
{
	const struct family *family = function->family;
	struct sampled_by by = { .act = SAMPLED_NOT };

	if (function->next || function->choice.count || !family->has_size ||
	    family->granularity || family->shared)
		return by;
	if (function->act == FAMILY_RELEASE) {
		by.size = by.factor = SAMPLED_NO_ARGUMENT;
		if (is_argument(&function->handle, 0))
			by.act = SAMPLED_RELEASE;
	} else if (sampled_size(&function->size, &by)) {
		if (function->act == FAMILY_ACQUIRE &&
		    (is_result(&function->handle) ||
		     is_stored(&function->handle)))
			by.act = SAMPLED_ACQUIRE;
		if (function->act == FAMILY_RESIZE &&
		    is_result(&function->handle) &&
		    is_argument(&function->old, 0))
			by.act = SAMPLED_RESIZE;
	}
	return by;
}

static bool is_number(const struct operand *operand)
{
	switch (operand->kind) {
	case OPERAND_PRODUCT:
		return operand->index < WHOLE_ARGUMENTS &&
		       operand->second < WHOLE_ARGUMENTS;
	case OPERAND_ARGUMENT:
		return operand->index < WHOLE_ARGUMENTS;
	case OPERAND_STORED:
		return false;
	case OPERAND_NONE:
	case OPERAND_RESULT:
	case OPERAND_CONSTANT:
		break;
	}
	return true;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Up to the last argument that it is, or is made of. */
static unsigned arguments_of(const struct operand *operand)
{
	switch (operand->kind) {
	case OPERAND_PRODUCT:
		return larger(operand->index, operand->second) + 1;
	case OPERAND_ARGUMENT:
	case OPERAND_STORED:
		return operand->index + 1;
	case OPERAND_NONE:
	case OPERAND_RESULT:
	case OPERAND_CONSTANT:
		break;
	}
	return 0;
}

static unsigned whole_arguments(const struct family_function *function)
{
	return larger(larger(arguments_of(&function->handle),
			     arguments_of(&function->old)),
		      larger(arguments_of(&function->size),
			     arguments_of(&function->old_size)));
}

/* Ranges depend on who calls (call_acts.c). */
static bool is_by_numbers(const struct family_function *function)
{
	return !function->next && !function->choice.count &&
	       !function->family->granularity && is_number(&function->handle) &&
	       is_number(&function->old) && is_number(&function->size) &&
	       is_number(&function->old_size);
}

/* A release that returns is told of by its return, too, to who wants to hear of
   everything in its order: as a whole only where nothing is in between. */
static enum whole_effect whole_release(const struct family_pick *pick,
				       const struct family_function *function,
				       bool entry_only)
{
	return function->success.compare == COMPARE_ALWAYS &&
			       (entry_only || !pick->in_order) ?
		       WHOLE_AT_ENTRY :
		       WHOLE_AT_BOTH;
}

static enum whole_effect whole_effect(const struct family_pick *pick,
				      const struct family_function *function,
				      bool entry_only)
{
	if (!is_by_numbers(function))
		return WHOLE_NOT;
	switch (function->act) {
	case FAMILY_ACQUIRE:
		return entry_only ? WHOLE_NOT : WHOLE_AT_RETURN;
	case FAMILY_RELEASE:
		return whole_release(pick, function, entry_only);
	case FAMILY_RESIZE:
		return WHOLE_AT_BOTH;
	case FAMILY_REPLACE:
	case FAMILY_MOVE:
		break;
	}
	return WHOLE_NOT;
}

static void describe(void *context, struct function *function)
{
	struct family_pick *pick = context;
	const struct family_function *first =
		families_find(pick->families, function->name);

	if (grows(pick, function->name)) {
		function->within_too = true;
		pick->found |= growth_wants(function->name);
	}
	if (!first) {
		if (grows(pick, function->name) ||
		    is_wait(pick, function->name))
			return;
		function->apart = is_apart(function->name);
		if (!function->apart)
			function->group =
				group_of(families_at(pick->families, 0));
		return;
	}
	pick->found = true;
	function->subject = first;
	function->sampled = sampled_by(first);
	function->group = group_of(first->family);
	function->entry_only = !pick->timed && is_done_at_entry(first);
	function->whole = whole_effect(pick, first, function->entry_only);
	function->whole_arguments = whole_arguments(first);
}

/*
 * mimalloc's free() and operator delete are one function: which of them the
 * program has called can't be told, so it fits everything.
 */
static void also_named(void *context, struct function *function,
		       const char *symbol)
{
	struct family_pick *pick = context;
	const struct family_function *first = function->subject;
	const struct family_function *other =
		families_find(pick->families, symbol);
	struct formless *formless;

	if (!first || !other || !first->form ||
	    same_form(first->form, other->form))
		return;
	formless = xcalloc(1, sizeof(*formless));
	formless->function = *first;
	formless->function.form = NULL;
	formless->next = pick->formless;
	pick->formless = formless;
	function->subject = &formless->function;
}

static void failed(void *context, const struct function *function)
{
	struct family_pick *pick = context;
	const struct family_function *each = function->subject;

	for (; each; each = each->next)
		if (each->act != FAMILY_RELEASE)
			pick->missing[each->family->index] = true;
}

const bool *family_pick_missing(const struct family_pick *pick)
{
	return pick->missing;
}

struct family_pick *family_pick_new(const struct families *families, bool timed,
				    bool in_order, bool waits_too,
				    enum growth_by growth)
{
	struct family_pick *pick = xcalloc(1, sizeof(*pick));

	pick->families = families;
	pick->missing =
		xcalloc(families_count(families) + 1, sizeof(*pick->missing));
	pick->timed = timed;
	pick->in_order = in_order;
	pick->waits = waits_too;
	pick->growth = growth;
	pick->ops = (struct prober_pick){
		.wants = wants,
		.describe = describe,
		.also_named = also_named,
		.failed = failed,
		.context = pick,
	};
	if (growth == GROWTH_BY_SYSTEM_CALLS)
		pick->ops.wants_call = wants_call;
	return pick;
}

void family_pick_free(struct family_pick *pick)
{
	while (pick->formless) {
		struct formless *next = pick->formless->next;

		free(pick->formless);
		pick->formless = next;
	}
	free(pick->missing);
	free(pick);
}

const struct prober_pick *family_pick_ops(const struct family_pick *pick)
{
	return &pick->ops;
}

bool family_pick_has_found(const struct family_pick *pick)
{
	return pick->found;
}
