/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/interpreter.h"
#include "heap/family.h"
#include "heap/look.h"
#include "report/heap/text.h"

/* What a reader may take for something else. */

static int add_note(const struct heap_text *text, const char *note)
{
	strbuf_puts(heap_text_out(text), "note: ");
	strbuf_puts(heap_text_out(text), note);
	return heap_text_end_line(text);
}

bool heap_text_has_python(const struct heap_text *text)
{
	const struct heap *heap = text->process->heap;
	const char *program = text->process->program;

	if (program && interpreter_is_python(program))
		return true;
	for (size_t i = 1; i <= heap_site_count(heap); i++) {
		const char *library = heap_site(heap, i)->library;

		if (library && interpreter_is_python(library))
			return true;
	}
	return false;
}

int heap_text_notes(const struct heap_text *text, const struct heap_rows *rows)
{
	int err = 0;

	if (rows->likely_by_growth)
		err = add_note(text, "likely is what grows and isn't given "
				     "back: a leak, or a cache or database "
				     "that fills");
	if (!err && heap_text_has_python(text))
		err = add_note(text, "Python's objects of up to 512 bytes "
				     "lie in arenas, and are not among the "
				     "blocks, unless it was started with "
				     "PYTHONMALLOC=malloc");
	return err;
}

int heap_text_untyped(const struct heap_text *text)
{
	const char *why =
		heap_look_why_untyped(heap_looked(text->process->heap));
	CLEANUP(strbuf_fini) struct strbuf note = { 0 };

	if (!why)
		return 0;
	strbuf_printf(&note, "objects' types aren't told: %s", why);
	return add_note(text, strbuf_text(&note));
}
