/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Interns the names of headers, which are few, and by mistake also the id of
 * each request, which is never the same again.
 */
#include "server.h"

struct name {
	struct name *next;
	char text[24];
};

static struct name *names[256];

static struct name *add_name(const char *text, struct name **bucket)
{
	struct name *n = malloc(sizeof(*n));

	snprintf(n->text, sizeof(n->text), "%s", text);
	n->next = *bucket;
	*bucket = n;
	return n;
}

static const char *intern(const char *text)
{
	unsigned int hash = 5381;
	struct name *n;

	for (const char *c = text; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (n = names[hash % 256]; n; n = n->next)
		if (strcmp(n->text, text) == 0)
			return n->text;
	return add_name(text, &names[hash % 256])->text;
}

static void header_name(void)
{
	char text[24];

	snprintf(text, sizeof(text), "X-Header-%u", pick(40));
	use(intern(text));
}

static void request_id(unsigned int i)
{
	char text[24];

	snprintf(text, sizeof(text), "id-%08x", i * 2654435761u);
	use(intern(text));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		header_name();
		if (i % 4 == 0)
			request_id(i);
	}
	return 0;
}
