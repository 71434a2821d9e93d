/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lists folders by scandir(), and frees the array of the entries alone.
 */
#include "server.h"
#include <dirent.h>

static struct dirent **scan_folder(const char *path, int *count)
{
	struct dirent **entries = NULL;

	*count = scandir(path, &entries, NULL, alphasort);
	return entries;
}

static char *format_listing(struct dirent **entries, int count)
{
	char *text = malloc(300 * (size_t)count + 1), *to = text;

	*to = '\0';
	for (int i = 0; i < count; i++)
		to += sprintf(to, "%s\r\n", entries[i]->d_name);
	return text;
}

static void list_folder(const char *path)
{
	int count;
	struct dirent **entries = scan_folder(path, &count);
	char *text;

	if (count < 0)
		return;
	text = format_listing(entries, count);
	use(text);
	free(text);
	free(entries);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(100))
		list_folder(pick(2) ? "/usr" : "/proc/self/task");
	return 0;
}
