/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/demangle.h"
#include "base/xalloc.h"
#include "report/heap_text.h"
#include "report/names.h"
#include "report/short_name.h"

/* What a site is called in one line. */

#define NAME_WIDTH 60

/*
 * Symbols of C++'s and Rust's own libraries: who has called a container is of
 * interest, not how it got to the allocator.
 */
bool heap_text_is_of_language(const struct frame_name *name)
{
	static const char *const beginnings[] = {
		"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
		"_ZN5alloc", "_ZN4core", "_ZN3std", "__rust_", "__rdl_", "__rg_",
	};

	for (size_t i = 0; name->linkage && i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(name->linkage, beginnings[i],
			     strlen(beginnings[i])))
			return true;
	return false;
}

/* An inlined wrapper may have the name of what it calls. */
static const struct frame_name *caller_in(const struct heap_text *text,
					  const struct site *site,
					  const struct frame *frame,
					  const struct frame_name **first)
{
	const struct frame_name *names;
	size_t count = namer_names(text->config->namer, frame, &names);

	for (size_t i = 0; i < count; i++) {
		if (!names[i].function ||
		    !strcmp(names[i].function, site->function->name))
			continue;
		if (!*first)
			*first = &names[i];
		if (!heap_text_is_of_language(&names[i]))
			return &names[i];
	}
	return NULL;
}

/* The innermost that isn't the language's own; else the innermost. */
static const struct frame_name *caller_of(const struct heap_text *text,
					  const struct site *site)
{
	const struct frame_name *first = NULL, *found = NULL;
	struct frame frames[UNWIND_DEPTH_MAX];
	size_t count = stacks_frames(text->config->stacks, site->stack, frames,
				     ARRAY_SIZE(frames));

	for (size_t i = 0; !found && i < count && (!i || first); i++)
		found = caller_in(text, site, &frames[i], &first);
	return found ? found : first;
}

void heap_text_function(const struct heap_text *text,
			const struct family_function *function)
{
	struct demangler demangler = { 0 };
	char *name CLEANUP(xfree_cleanup) = NULL;

	if (!strncmp(function->name, "_Z", 2))
		name = demangle(&demangler, function->name);
	names_escape(&text->output->text, name ? name : function->name);
}

void heap_text_site(const struct heap_text *text, const struct site *site)
{
	const struct frame_name *caller = caller_of(text, site);
	struct strbuf *out = &text->output->text;
	const char *slash = site->library ? strrchr(site->library, '/') : NULL;

	heap_text_function(text, site->function);
	if (caller) {
		strbuf_puts(out, " by ");
		short_name_add(out, caller->function, NAME_WIDTH);
	} else if (slash && slash[1]) {
		strbuf_puts(out, " by ");
		names_escape(out, slash + 1);
	}
}
