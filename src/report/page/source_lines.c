/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "report/file/source_file.h"

/* By file, and by line in each: so each file is read once, and in its order. */
static int compare(const void *a, const void *b)
{
	const struct frame_row *const *x = a, *const *y = b;
	int order = strcmp((*x)->file, (*y)->file);

	return order ? order :
		       ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

static const struct frame_row **sorted(const struct frame_table *frames,
				       size_t *count_ret)
{
	const struct frame_row **list =
		xcalloc(frames->count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < frames->count; i++)
		if (*frames->rows[i].file && frames->rows[i].line)
			list[count++] = &frames->rows[i];
	qsort(list, count, sizeof(*list), compare);
	*count_ret = count;
	return list;
}

static char *line_of(struct source_file *file, unsigned line)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (!source_file_add_line(file, line, &text))
		return NULL;
	return xstrdup(strbuf_text(&text) + strspn(strbuf_text(&text), " "));
}

/* Those of one file; returns how many these are. Frames of one line are not
   asked for twice. */
static size_t read_file(const struct frame_table *frames,
			const struct frame_row **list, size_t count,
			const struct rights *rights, char **texts)
{
	struct source_file file;
	const char *before = NULL;
	bool is_read = !source_file_read(list[0]->file, rights, &file);
	size_t i;

	for (i = 0; i < count && !strcmp(list[i]->file, list[0]->file); i++) {
		char **text = &texts[list[i] - frames->rows];

		if (is_read && i && list[i]->line == list[i - 1]->line)
			*text = before ? xstrdup(before) : NULL;
		else if (is_read)
			*text = line_of(&file, list[i]->line);
		before = *text;
	}
	if (is_read)
		source_file_fini(&file);
	return i;
}

void source_lines_read(const struct frame_table *frames,
		       const struct rights *rights, struct source_lines *ret)
{
	size_t count, at = 0;
	const struct frame_row **list = sorted(frames, &count);

	ret->count = frames->count;
	ret->texts = xcalloc(frames->count + 1, sizeof(*ret->texts));
	while (rights && at < count)
		at += read_file(frames, list + at, count - at, rights,
				ret->texts);
	free(list);
}

void source_lines_fini(struct source_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->texts[i]);
	free(lines->texts);
}
