/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/xalloc.h"
#include "heap/caller.h"
#include "report/format/names.h"
#include "report/format/short_name.h"
#include "report/heap/text.h"

/* What a site is called in one line. */

#define NAME_WIDTH 60

void heap_text_symbol(const struct heap_text *text, struct demangler *demangler,
		      const char *symbol)
{
	char *name CLEANUP(xfree_cleanup) = NULL;

	if (symbol[0] == '_')
		name = demangle(demangler, symbol);
	names_escape(&text->output->text, name ? name : symbol);
}

void heap_text_function(const struct heap_text *text,
			const struct family_function *function)
{
	struct demangler demangler = { 0 };

	heap_text_symbol(text, &demangler, function->name);
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
