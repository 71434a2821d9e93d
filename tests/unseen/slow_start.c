/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Builds its index in the first fourteen seconds, while it answers already, and
 * never frees it, as it is needed to the end. Answers are freed.
 */
#include "server.h"

static char *documents[700];
static unsigned int n_documents;

static void index_document(void)
{
	documents[n_documents++] = strdup("a document with a few words");
	use(documents);
}

static void answer(void)
{
	char *text = calloc(1, 300);

	use(text);
	free(text);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20)) {
		if (n_documents < ARRAY_SIZE(documents))
			index_document();
		answer();
	}
	return 0;
}
