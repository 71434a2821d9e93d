/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Walks through a folder with fts. When it meets what it looks for it returns at
 * once and leaves the walk open; a second walk is always closed.
 */
#include "server.h"
#include <fts.h>

static int find_first(const char *folder)
{
	char *paths[] = { (char *)folder, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while ((entry = fts_read(walk)))
		if (strcmp(entry->fts_name, "hosts") == 0)
			return 1;
	fts_close(walk);
	return 0;
}

static int count_files(const char *folder)
{
	char *paths[] = { (char *)folder, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int count = 0;

	while (fts_read(walk))
		count++;
	fts_close(walk);
	return count;
}

int main(int argc, char **argv)
{
	int found = 0;

	serve_for(argc, argv);
	while (serving(200)) {
		found += find_first("/etc/hosts");
		found += count_files("/etc/default");
		if (pick(4) == 0)
			found += find_first("/etc/alternatives");
	}
	return found == 0;
}
