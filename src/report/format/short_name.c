/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/short_name.h"

#include <string.h>

#include "base/types.h"
#include "report/format/names.h"

/* operator<, operator->, operator(): these open and close nothing. */
static size_t operator_length(const char *name, const char *start)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;

	if (strncmp(name, word, length) != 0)
		return 0;
	if (name > start && strchr(":& *", name[-1]) == NULL)
		return 0;
	if (!strncmp(name + length, "()", 2))
		return length + 2;
	return length + strspn(name + length, "<>-=");
}

/* What has brackets that aren't those of arguments. */
static size_t word_length(const char *name, const char *start)
{
	static const char anonymous[] = "(anonymous namespace)";

	if (!strncmp(name, anonymous, sizeof(anonymous) - 1))
		return sizeof(anonymous) - 1;
	return operator_length(name, start);
}

/* Leaves out what is deeper within brackets than that. */
static void collapse(struct strbuf *out, const char *name, unsigned deepest,
		     bool parameters)
{
	unsigned depth = 0;
	const char *at = name;

	while (*at) {
		size_t length = word_length(at, name);

		if (length && depth <= deepest)
			strbuf_add(out, at, length);
		at += length;
		if (length)
			continue;
		if (*at == '>' && depth)
			depth--;
		if (*at == ')' && !parameters && depth)
			depth--;
		if (depth <= deepest)
			strbuf_putc(out, *at);
		if (*at == '<' || (*at == '(' && !parameters)) {
			if (depth++ == deepest)
				strbuf_puts(out, "...");
		}
		at++;
	}
}

void short_name_add(struct strbuf *out, const char *name, size_t width)
{
	static const struct {
		unsigned deepest;
		bool parameters;
	} ways[] = { { 1, true }, { 0, true }, { 0, false } };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_puts(&text, name);
	for (size_t i = 0; i < ARRAY_SIZE(ways) && text.length > width; i++) {
		strbuf_clear(&text);
		collapse(&text, name, ways[i].deepest, ways[i].parameters);
	}
	names_escape(out, strbuf_text(&text));
}
