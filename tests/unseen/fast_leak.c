/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Three hundred requests a second, whose headers are never freed; their bodies
 * are.
 */
#include "server.h"

static char *parse_header(void)
{
	return strdup("Content-Type: text/plain");
}

static char *parse_body(void)
{
	return calloc(1, 64 + pick(1000));
}

static void handle(void)
{
	char *header = parse_header(), *body = parse_body();

	use(header);
	use(body);
	free(body);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(10))
		for (int i = 0; i < 3; i++)
			handle();
	return 0;
}
