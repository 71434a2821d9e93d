/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Orders rest in levels of prices. Most are filled or taken back within seconds;
 * those far from the market are taken back after eleven.
 */
#include <deque>
#include <list>
#include <map>
#include <memory>
#include "server.h"

struct order {
	unsigned int number;
	double until;
	char account[40];
};

static std::map<unsigned int, std::list<std::unique_ptr<order>>> book;

static std::unique_ptr<order> make_order(unsigned int number, double stays)
{
	std::unique_ptr<order> o(new order);

	o->number = number;
	o->until = uptime() + stays;
	return o;
}

static void place_order(unsigned int number)
{
	bool is_far = pick(5) == 0;
	unsigned int price = is_far ? 500 + pick(100) : 1000 + pick(20);

	book[price].push_back(make_order(number, is_far ? 11 :
						 pick(2500) / 1000.0));
}

static void take_back(unsigned int)
{
	double now = uptime();

	for (auto level = book.begin(); level != book.end();) {
		level->second.remove_if([now](const auto &o) {
			return o->until < now;
		});
		level = level->second.empty() ? book.erase(level)
					      : std::next(level);
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(15); i++) {
		place_order(i);
		take_back(i);
	}
	return 0;
}
