/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/frame_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "report/format/names.h"

void frame_text_add(const struct frame *frame, const struct frame_name *name,
		    struct strbuf *out)
{
	if (name->function) {
		names_escape(out, name->function);
		return;
	}
	strbuf_putc(out, '[');
	names_escape(out,
		     *name->library ? file_base_name(name->library) : "anon");
	strbuf_printf(out, "+%#" PRIx64 "]", frame->address);
}

/* Longer names are no allocator's: of a file's that wants to be waited for. */
#define ALLOCATOR_MAX 48

void frame_text_add_allocator(const char *symbol, struct strbuf *out)
{
	struct demangler demangler = { 0 };
	char *name CLEANUP(xfree_cleanup) = NULL;

	if (!strncmp(symbol, "_Z", 2) && strlen(symbol) <= ALLOCATOR_MAX)
		name = demangle(&demangler, symbol);
	names_escape(out, name ? name : symbol);
}
