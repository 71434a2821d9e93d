/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mistakes.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "report/heap/suppressions_private.h"

#define BLANKS " \t\r\n"

struct suppressions_reading {
	struct mistakes mistakes;
	unsigned line;
	const char *begin; /* of the line */
	const char *at;
};

static int refuse(struct suppressions_reading *reading, const char *why)
{
	mistakes_tell(&reading->mistakes, reading->line,
		      reading->at - reading->begin + 1, why);
	return -EINVAL;
}

static void add(struct suppression *ret, const struct strbuf *pattern)
{
	ret->patterns[ret->count++] = xstrdup(strbuf_text(pattern));
}

/* LeakSanitizer's: a part of a name, whose ends may be said to be its. */
static int read_part(struct suppressions_reading *reading,
		     struct suppression *ret)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 };
	const char *text = reading->at + strspn(reading->at, BLANKS);
	size_t length = strlen(text);
	bool from_begin, to_end;

	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	from_begin = length && text[0] == '^';
	to_end = length > from_begin && text[length - 1] == '$';
	if (length <= (size_t)from_begin + to_end)
		return refuse(reading, "expected a pattern behind 'leak:'");
	if (!from_begin)
		strbuf_putc(&pattern, '*');
	for (size_t i = from_begin; i < length - to_end; i++)
		strbuf_putc(&pattern, text[i]);
	if (!to_end)
		strbuf_putc(&pattern, '*');
	add(ret, &pattern);
	return 0;
}

/* A word, or with blanks between quotes. */
static int read_pattern(struct suppressions_reading *reading,
			struct suppression *ret)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 };
	bool quoted = *reading->at == '"';
	size_t length;

	reading->at += quoted;
	length = strcspn(reading->at, quoted ? "\"" : BLANKS);
	if (quoted && !reading->at[length])
		return refuse(reading, "expected a '\"' that ends the name");
	if (!length)
		return refuse(reading, "expected a name between the quotes");
	if (ret->count == SUPPRESSION_PATTERNS)
		return refuse(reading, "expected fewer patterns in a line");
	for (size_t i = 0; i < length; i++)
		strbuf_putc(&pattern, reading->at[i]);
	reading->at += length + quoted;
	add(ret, &pattern);
	return 0;
}

/* What other programs' files begin a line with. */
static const char *foreign(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_");

	if (*text == '{' || *text == '}')
		return "expected patterns: valgrind's form is not read";
	if (length && text[length] == ':' && text[length + 1] != ':')
		return "expected patterns or 'leak:', nothing else with a ':'";
	return NULL;
}

static int read_patterns(struct suppressions_reading *reading,
			 struct suppression *ret)
{
	const char *problem = foreign(reading->at);
	int err = problem ? refuse(reading, problem) : 0;

	while (!err && *reading->at) {
		err = read_pattern(reading, ret);
		reading->at += strspn(reading->at, BLANKS);
	}
	return err;
}

static const char *control_in(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)line[i]) &&
		    (!line[i] || !strchr(BLANKS, line[i])))
			return line + i;
	return NULL;
}

static void name_line(const struct suppressions_reading *reading,
		      const char *text, struct suppression *ret)
{
	int length = strlen(text);

	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	ret->text = xasprintf("%s:%u: %.*s", reading->mistakes.path,
			      reading->line, length, text);
}

static void read_line(struct suppressions *all,
		      struct suppressions_reading *reading, const char *line,
		      size_t length)
{
	struct suppression found = { 0 };
	const char *control = control_in(line, length);
	const char *text = line + strspn(line, BLANKS);
	int err;

	reading->begin = line;
	reading->at = control ? control : text;
	if (control) {
		refuse(reading, "unexpected control character");
		return;
	}
	if (!*text || *text == '#')
		return;
	if (!strncmp(text, "leak:", 5) && text[5] != ':') {
		reading->at += 5;
		err = read_part(reading, &found);
	} else {
		err = read_patterns(reading, &found);
	}
	if (err) {
		suppression_fini(&found);
		return;
	}
	name_line(reading, text, &found);
	all->list =
		xgrow(all->list, all->count, &all->room, sizeof(*all->list));
	all->list[all->count++] = found;
	all->pattern_count += found.count;
}

int suppressions_read(struct suppressions *all, const char *path)
{
	struct suppressions_reading reading = {
		.mistakes = { .path = path, .domain = DIAG_SESSION },
	};
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int err;

	if (!file)
		return -errno;
	errno = 0;
	while ((length = getline(&line, &room, file)) >= 0) {
		reading.line++;
		read_line(all, &reading, line, length);
	}
	err = ferror(file) ? (errno ? -errno : -EIO) : 0;
	free(line);
	fclose(file);
	return err;
}
