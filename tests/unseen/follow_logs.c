/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files are followed line by line, and opened again when they are renamed, each
 * some seconds: the line's buffer goes with the old one, its path doesn't.
 */
#include "server.h"

#define FILES 8

struct followed {
	char *path, *line;
	size_t size;
	double until;
};

static struct followed files[FILES];

static char *path_of(unsigned int number)
{
	char *path = malloc(64);

	snprintf(path, 64, "/var/log/%u.log", number);
	return path;
}

static struct followed open_file(unsigned int number)
{
	struct followed f = { .path = path_of(number) };

	f.until = uptime() + 1 + pick(4000) / 1000.0;
	return f;
}

static void read_line(struct followed *f)
{
	size_t wanted = 20 + pick(300);

	if (wanted <= f->size)
		return;
	f->line = realloc(f->line, wanted);
	f->size = wanted;
	use(f->line);
}

static void renamed(unsigned int number)
{
	free(files[number].line);
	files[number] = open_file(number);
}

static void ship_line(const struct followed *f)
{
	char *copy = malloc(f->size + 30);

	use(copy);
	free(copy);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < FILES; i++)
		files[i] = open_file(i);
	while (serving(12)) {
		unsigned int number = pick(FILES);

		read_line(&files[number]);
		ship_line(&files[number]);
		if (files[number].until < uptime())
			renamed(number);
	}
	return 0;
}
