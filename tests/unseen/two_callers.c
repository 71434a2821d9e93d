/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * All memory comes from xmalloc(). The login page forgets what it got there,
 * the search page doesn't.
 */
#include "server.h"

static void *xmalloc(size_t size)
{
	void *block = malloc(size);

	if (!block)
		abort();
	return block;
}

static void login_page(void)
{
	char *cookie = xmalloc(48);

	snprintf(cookie, 48, "session=%u", pick(1000000));
	use(cookie);
}

static void search_page(void)
{
	char *terms = xmalloc(48), *result = xmalloc(900);

	use(terms);
	use(result);
	free(terms);
	free(result);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		if (i % 8 == 0)
			login_page();
		else
			search_page();
	}
	return 0;
}
