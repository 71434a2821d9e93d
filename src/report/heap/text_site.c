/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/demangle.h"
#include "base/xalloc.h"
#include "heap/caller.h"
#include "report/format/names.h"
#include "report/format/short_name.h"
#include "report/heap/text.h"

/* What a site is called in one line. */

#define NAME_WIDTH 60

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
	struct frame frame;
	const struct frame_name *caller =
		heap_caller(text->config->stacks, text->config->namer,
			    text->config->wrappers, site, &frame);
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
