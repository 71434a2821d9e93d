/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps its whole log in one buffer, which is made larger by a block of 4096
 * bytes each time it is full, for ever. Lines are formatted elsewhere, and
 * freed.
 */
#include "server.h"

static char *log_text;
static size_t used, capacity;

static char *format_entry(void)
{
	char *entry = NULL;

	if (asprintf(&entry, "%10.3f a request of %u bytes, answered in %u ms",
		     uptime(), pick(10000), pick(100)) < 0)
		abort();
	return entry;
}

static void append_log(const char *text)
{
	size_t length = strlen(text);

	if (used + length > capacity) {
		capacity += 4096;
		log_text = realloc(log_text, capacity);
	}
	memcpy(log_text + used, text, length);
	used += length;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(10)) {
		char *entry = format_entry();

		append_log(entry);
		free(entry);
	}
	return 0;
}
