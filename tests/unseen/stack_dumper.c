/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Warns with a stack, whose names backtrace_symbols() puts into one block that
 * the caller has to free.
 */
#include "server.h"
#include <execinfo.h>

static char **stack_names(int *count)
{
	void *addresses[20];

	*count = backtrace(addresses, 20);
	return backtrace_symbols(addresses, *count);
}

static void warn(const char *what)
{
	int count;
	char **names = stack_names(&count);

	use(what);
	use(names);
}

static char *parse_order(unsigned int number)
{
	char *order = malloc(50 + pick(50));

	sprintf(order, "order %u", number);
	return order;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		char *order = parse_order(i);

		if (pick(14) == 0)
			warn(order);
		free(order);
	}
	return 0;
}
