/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Looks for files by patterns: in one place the result of glob() is not given
 * back, that of wordexp() always is.
 */
#include "server.h"
#include <glob.h>
#include <wordexp.h>

static size_t list_logs(void)
{
	glob_t found;

	if (glob("/usr/lib/os-rel*", 0, NULL, &found) != 0)
		return 0;
	return found.gl_pathc;
}

static size_t list_devices(void)
{
	glob_t found;
	size_t count;

	if (glob("/dev/null*", 0, NULL, &found) != 0)
		return 0;
	count = found.gl_pathc;
	globfree(&found);
	return count;
}

static size_t split_words(void)
{
	wordexp_t words;
	size_t count;

	if (wordexp("one two $HOME", &words, WRDE_NOCMD) != 0)
		return 0;
	count = words.we_wordc;
	wordfree(&words);
	return count;
}

int main(int argc, char **argv)
{
	size_t sum = 0;

	serve_for(argc, argv);
	while (serving(150))
		sum += list_logs() + list_devices() + split_words();
	return sum == 0;
}
