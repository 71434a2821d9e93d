// SPDX-License-Identifier: GPL-2.0-or-later
//
// A cache of a list and a hash table, full from the beginning, with a few
// entries that are asked for so often that they always stay.
#include "server.h"

#include <list>
#include <string>
#include <unordered_map>

class cache {
public:
	void get(unsigned int key);

private:
	void put(unsigned int key);

	typedef std::list<std::pair<unsigned int, std::string>> entries;
	entries order;
	std::unordered_map<unsigned int, entries::iterator> index;
};

void cache::put(unsigned int key)
{
	order.emplace_front(key, std::string(200, 'x'));
	index[key] = order.begin();
	if (order.size() <= 250)
		return;
	index.erase(order.back().first);
	order.pop_back();
}

void cache::get(unsigned int key)
{
	auto found = index.find(key);

	if (found == index.end())
		put(key);
	else
		order.splice(order.begin(), order, found->second);
}

int main(int argc, char **argv)
{
	static cache c;

	serve_for(argc, argv);
	for (unsigned int i = 0; i < 600; i++)
		c.get(i);
	while (serving(12))
		c.get(pick(3) ? pick(60) : pick(5000));
}
