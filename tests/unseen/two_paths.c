/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The same function loads a document for GET, which frees it after half a
 * second, and for HEAD, which only looks at its size and forgets it.
 */
#include "server.h"

#define SENDING 16

static char *sending[SENDING];

static char *load_document(size_t size)
{
	char *document = malloc(size);

	memset(document, 'x', size);
	return document;
}

static void serve_get(unsigned int i)
{
	free(sending[i % SENDING]);
	sending[i % SENDING] = load_document(700);
}

static void serve_head(void)
{
	use(load_document(700));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++) {
		serve_get(i);
		if (pick(15) == 0)
			serve_head();
	}
	return 0;
}
