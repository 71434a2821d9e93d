/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Letters are written into a stream in memory. That of a letter which bounces
 * is closed, but what was written into it is not freed.
 */
#include "server.h"

static char *read_recipient(unsigned int number)
{
	char *name = malloc(30 + pick(60));

	sprintf(name, "user%u@example.org", number);
	return name;
}

static char *render_mail(const char *name)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	fprintf(stream, "Dear %s,\n", name);
	for (unsigned int i = 0; i < 20 + pick(40); i++)
		fprintf(stream, "line %u of what we have to say\n", i);
	fclose(stream);
	return text;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(15); i++) {
		char *name = read_recipient(i);
		char *text = render_mail(name);

		use(text);
		if (pick(9))
			free(text);
		free(name);
	}
	return 0;
}
