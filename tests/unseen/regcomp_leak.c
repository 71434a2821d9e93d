/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compiles a pattern for each request. When a route doesn't match, regfree()
 * is skipped; for hosts it never is.
 */
#include "server.h"

#include <regex.h>

static int match_route(const char *path)
{
	regex_t pattern;

	if (regcomp(&pattern, "^/static/[a-z]+", REG_EXTENDED | REG_NOSUB))
		return 0;
	if (regexec(&pattern, path, 0, NULL, 0))
		return 0;
	regfree(&pattern);
	return 1;
}

static int match_host(const char *host)
{
	regex_t pattern;
	int matched;

	if (regcomp(&pattern, "example\\.(com|org)", REG_EXTENDED))
		return 0;
	matched = regexec(&pattern, host, 0, NULL, 0) == 0;
	regfree(&pattern);
	return matched;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(200)) {
		match_host(pick(2) ? "www.example.com" : "other");
		match_route(pick(5) ? "/static/logo" : "/api/1");
	}
	return 0;
}
