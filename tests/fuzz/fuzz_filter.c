/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "filter/filter.h"

/* The text up to the next line's end, or to the end; moves on behind it. */
static char *next_line(const uint8_t **bytes, size_t *size)
{
	const uint8_t *end = *size ? memchr(*bytes, '\n', *size) : NULL;
	size_t length = end ? (size_t)(end - *bytes) : *size;
	char *line = xstrndup((const char *)*bytes, length);

	if (end)
		length++;
	*bytes += length;
	*size -= length;
	return line;
}

static void check_refusal(const char *text, char *message, size_t column)
{
	if (!message[0] || !column || column > strlen(text) + 1)
		abort();
	free(message);
}

/* What is wanted of a library must not be hidden by the quick question. */
static void check_answers(const struct filter *filter, const char *symbol,
			  const struct filter_library *library)
{
	bool wanted = filter_matches(filter, symbol, library);
	bool by_one = false;

	for (size_t i = 0; i < filter_count(filter); i++) {
		const char *plain = filter_plain_name(filter, i);

		free(filter_written_name(filter, i));
		if (!filter_matches_one(filter, i, symbol, library))
			continue;
		by_one = true;
		if (plain && strcmp(plain, symbol) != 0)
			abort();
	}
	if (wanted != by_one)
		abort();
	if (wanted && !filter_may_match_library(filter, library))
		abort();
}

/* Lines: a filter, a pattern of -l, a symbol, a path, a SONAME. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(xfree_cleanup) char *text = next_line(&bytes, &size);
	CLEANUP(xfree_cleanup) char *pattern = next_line(&bytes, &size);
	CLEANUP(xfree_cleanup) char *symbol = next_line(&bytes, &size);
	CLEANUP(xfree_cleanup) char *path = next_line(&bytes, &size);
	CLEANUP(xfree_cleanup) char *soname = next_line(&bytes, &size);
	struct filter *filter = filter_new();
	char *message;
	size_t column;

	if (filter_add(filter, text, &message, &column))
		check_refusal(text, message, column);
	if (filter_add_library(filter, pattern, &message, &column))
		check_refusal(pattern, message, column);
	check_answers(filter, symbol,
		      &(struct filter_library){ .path = path,
						.soname = soname });
	check_answers(filter, symbol,
		      &(struct filter_library){ .path = path,
						.is_main = true });
	check_answers(filter, symbol,
		      &(struct filter_library){ .soname = soname });
	filter_free(filter);
	return 0;
}
