/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A connection tells its listeners when it has gone. After each reconnect the
 * listeners are added again, and the old ones stay on the list.
 */
#include <functional>
#include <string>
#include <vector>
#include "server.h"

static std::vector<std::function<void(const std::string &)>> listeners;

static void add_listener(unsigned int number)
{
	std::string who = "the listener with the number " +
			  std::to_string(number);

	listeners.push_back([who](const std::string &) { use(who.data()); });
}

static std::string read_line(unsigned int number)
{
	return std::string(60 + pick(200), 'x') + std::to_string(number);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		std::string line = read_line(i);

		if (pick(18) == 0)
			add_listener(i);
		if (!listeners.empty())
			listeners.back()(line);
	}
	return 0;
}
