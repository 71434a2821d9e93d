/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Formats a status once a second that nobody frees, and replies that are.
 */
#include "server.h"

static const char *status = "";

static void format_status(unsigned int requests)
{
	char *text;

	if (asprintf(&text, "up %.0f s, %u requests", uptime(), requests) > 0)
		status = text;
}

static char *format_reply(unsigned int number)
{
	char *text = NULL;

	if (asprintf(&text, "reply %u (%s)", number, status) < 0)
		return NULL;
	return text;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(25); i++) {
		char *reply = format_reply(i);

		use(reply);
		free(reply);
		if (i % 40 == 0)
			format_status(i);
	}
	return 0;
}
