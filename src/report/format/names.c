/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/printable.h"
#include "base/xalloc.h"

struct shown_name {
	const struct function *function;
	char *name;
	char *full;
	UT_hash_handle hh;
};

#define RECENT 64

struct names {
	struct names_options options;
	struct demangler demangler;
	struct shown_name *shown;
	struct shown_name *recent[RECENT]; /* loops call the same ones again */
};

struct names *names_new(const struct names_options *options)
{
	struct names *names = xcalloc(1, sizeof(*names));

	names->options = *options;
	if (!options->dialect)
		names->options.dialect = &dialect_own;
	return names;
}

void names_free(struct names *names)
{
	struct shown_name *shown, *next;

	if (!names)
		return;
	HASH_ITER(hh, names->shown, shown, next) {
		HASH_DEL(names->shown, shown);
		free(shown->name);
		free(shown->full);
		free(shown);
	}
	free(names);
}

void names_escape(struct strbuf *out, const char *name)
{
	const char *s = name;
	const char *end = s + NAME_MAX_SHOWN;
	size_t n;

	while (*s && s < end) {
		n = printable_length(s);
		if (n) {
			strbuf_add(out, s, n);
			s += n;
		} else {
			strbuf_printf(out, "\\%03o", (uint8_t)*s++);
		}
	}
	if (*s)
		strbuf_puts(out, "...");
}

static char *escaped_name(struct names *names, const char *symbol)
{
	struct strbuf text = { 0 };
	char *name = NULL;

	if (names->options.demangle)
		name = demangle(&names->demangler, symbol);
	names_escape(&text, name ? name : symbol);
	free(name);
	return text.text ? text.text : xstrdup("");
}

/* "%s" in a text of the dialect's becomes the name. */
static char *put_into(const char *form, const char *name)
{
	const char *place = strstr(form, "%s");

	return xasprintf("%.*s%s%s", (int)(place - form), form, name,
			 place + 2);
}

/* That of a system call is told from that of the library's function. */
static char *bare_name(struct names *names, const struct function *function)
{
	if (function->place == FUNCTION_SYSTEM_CALL)
		return put_into(names->options.dialect->system_call_row,
				function->name);
	return escaped_name(names, function->name);
}

static char *full_name(const struct names *names,
		       const struct function *function, const char *name)
{
	struct strbuf text = { 0 };

	if (function->place == FUNCTION_SYSTEM_CALL)
		return put_into(names->options.dialect->system_call,
				function->name);
	if (function->place == FUNCTION_CALL_SITE && function->caller &&
	    names->options.callers) {
		names_escape(&text, function->caller);
		strbuf_puts(&text, "->");
	}
	strbuf_puts(&text, name);
	if (function->place == FUNCTION_ENTRY && function->library) {
		strbuf_putc(&text, '@');
		names_escape(&text, function->library);
	}
	return text.text ? text.text : xstrdup("");
}

static struct shown_name *find(struct names *names,
			       const struct function *function)
{
	const uintptr_t at = (uintptr_t)function;
	struct shown_name **recent =
		&names->recent[(at >> 4 ^ at >> 10) % RECENT];
	struct shown_name *shown = *recent;

	if (shown && shown->function == function)
		return shown;
	HASH_FIND_PTR(names->shown, &function, shown);
	if (!shown) {
		shown = xcalloc(1, sizeof(*shown));
		shown->function = function;
		shown->name = bare_name(names, function);
		shown->full = full_name(names, function, shown->name);
		HASH_ADD_PTR(names->shown, function, shown);
	}
	*recent = shown;
	return shown;
}

const char *names_short(struct names *names, const struct function *function)
{
	return find(names, function)->name;
}

const char *names_full(struct names *names, const struct function *function)
{
	return find(names, function)->full;
}

#define KEPT 15

bool names_differ(const char *file, const char *name)
{
	return *name && strncmp(file_base_name(file), name, KEPT) != 0;
}
