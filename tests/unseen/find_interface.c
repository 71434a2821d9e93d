/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Asks for the network's interfaces again and again. Who looks for one of them
 * returns as soon as it is found, before freeifaddrs().
 */
#include "server.h"
#include <ifaddrs.h>

static struct ifaddrs *ask_all(void)
{
	struct ifaddrs *list = NULL;

	getifaddrs(&list);
	return list;
}

static int find_address(const char *name)
{
	struct ifaddrs *list = NULL;

	getifaddrs(&list);
	for (struct ifaddrs *i = list; i; i = i->ifa_next)
		if (!strcmp(i->ifa_name, name))
			return 1;
	freeifaddrs(list);
	return 0;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(120)) {
		struct ifaddrs *list = ask_all();

		use(list);
		freeifaddrs(list);
		find_address(pick(3) ? "none" : "lo");
	}
	return 0;
}
