/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A cache of weighted objects that throws out any of them when its weight is too
 * much, and a queue of what has to be written back, which is emptied.
 */
#include "server.h"
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct object {
	std::vector<char> bytes;
};

static std::unordered_map<unsigned int, std::shared_ptr<object>> cache;
static std::deque<std::weak_ptr<object>> dirty;
static size_t weight;

static std::shared_ptr<object> fetch_object(unsigned int)
{
	auto o = std::make_shared<object>();

	o->bytes.resize(100 + pick(1500));
	return o;
}

static void make_room(void)
{
	while (weight > 150000) {
		auto victim = cache.begin();

		std::advance(victim, pick(cache.size()));
		weight -= victim->second->bytes.size();
		cache.erase(victim);
	}
}

static void lookup(unsigned int key)
{
	auto found = cache.find(key);

	if (found == cache.end()) {
		found = cache.emplace(key, fetch_object(key)).first;
		weight += found->second->bytes.size();
	}
	if (pick(4) == 0)
		dirty.push_back(found->second);
	make_room();
}

static void write_back(void)
{
	while (dirty.size() > 20)
		dirty.pop_front();
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(15)) {
		lookup(pick(3) ? pick(80) : pick(5000));
		write_back();
	}
	return 0;
}
