/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

/*
 * libiberty recurses as deep as a name is long. It refuses C++ names of more
 * than half its limit on its own, though real ones are longer; up to this
 * length, the deepest name fits in the usual 8 MiB of stack.
 */
#define LONGEST_SYMBOL 4096

struct demangling {
	struct strbuf text;
	jmp_buf too_long;
};

/*
 * The only way to stop libiberty is to leave it. It keeps its state on the
 * stack, but for the one word that the Rust demangler decodes from Punycode:
 * that is lost.
 */
static void take(const char *bytes, size_t n, void *data)
{
	struct demangling *d = data;

	if (n > DEMANGLE_MAX - d->text.length)
		longjmp(d->too_long, 1);
	strbuf_add(&d->text, bytes, n);
}

static int demangle_into(struct demangling *d, const char *symbol)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(d->too_long))
		return 0;
	if (rust_demangle_callback(symbol, options, take, d))
		return 1;
	strbuf_clear(&d->text);
	return cplus_demangle_v3_callback(
		symbol, options | DMGL_NO_RECURSE_LIMIT, take, d);
}

char *demangle(const char *symbol)
{
	struct demangling d = { 0 };

	/* What begins otherwise is no mangled name: most of C. */
	if (symbol[0] != '_' || strnlen(symbol, LONGEST_SYMBOL + 1) >
				       LONGEST_SYMBOL)
		return NULL;
	if (demangle_into(&d, symbol) && d.text.length)
		return d.text.text;
	strbuf_fini(&d.text);
	return NULL;
}
