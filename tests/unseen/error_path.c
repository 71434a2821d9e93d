/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Decodes messages; when one is broken, which one in twelve is, the function
 * returns early and the copy that it works on is lost.
 */
#include "server.h"

struct message {
	char *text;
	size_t length;
};

static char *copy_text(const char *text)
{
	return strdup(text);
}

static struct message *new_message(void)
{
	return calloc(1, sizeof(struct message));
}

static struct message *decode(const char *text)
{
	char *copy = copy_text(text);
	struct message *m;

	if (strchr(copy, '!'))
		return NULL;
	m = new_message();
	m->text = copy;
	m->length = strlen(copy);
	return m;
}

int main(int argc, char **argv)
{
	struct message *m;

	serve_for(argc, argv);
	while (serving(25)) {
		m = decode(pick(12) ? "order 17 pieces" : "order !");
		if (!m)
			continue;
		free(m->text);
		free(m);
	}
	return 0;
}
