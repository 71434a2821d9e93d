// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks that containers of the library hold; says where they are.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace shop {
struct user {
	long number;
	char *name;
	std::vector<char *> words;
};

struct alignas(32) wide {
	char *name;
};

struct exact {
	long double amount;
	char *name;
};

struct store {
	long unused;
	std::map<int, user *> by_number;
	std::map<int, wide> by_width;
	std::unordered_map<std::string, user> by_name;
	std::unordered_map<int, exact> by_amount;
	std::set<char *> names;
	std::list<user> in_order;
	std::forward_list<user> back;
	std::vector<user> row;
	std::deque<user> both;
	std::unique_ptr<user> one;
	std::shared_ptr<user> shared;
	std::vector<int> numbers;
	std::string text;
};

static store *all;
}

using namespace shop;

// A block that nothing else points at.
static char *say(const char *what, void *made = calloc(1, 100))
{
	printf("%s %p\n", what, made);
	return (char *)made;
}

static void fill()
{
	static std::map<int, char *> inside;
	static user *last;

	all = new store;
	all->by_number[1] = new user;
	all->by_number[1]->name = say("map");
	all->by_width[1].name = say("wide");
	all->by_name["a"].name = say("unordered_map");
	all->by_amount[1].name = say("exact");
	all->names.insert(say("set"));
	all->in_order.emplace_back().name = say("list");
	all->back.emplace_front().name = say("forward_list");
	all->row.resize(3);
	all->row[2].name = say("vector");
	all->row[1].words.assign(3, nullptr);
	all->row[1].words[2] = say("inner");
	all->both.emplace_back().name = nullptr;
	all->both.emplace_back().name = say("deque");
	all->one.reset(new user);
	all->one->name = say("unique_ptr");
	all->shared.reset(new user);
	all->shared->name = say("shared_ptr");
	all->numbers.assign(100, 0);
	say("numbers", all->numbers.data());
	all->text.assign(100, '\1');
	say("text", &all->text[0]);
	inside[1] = say("static");
	last = new user;
	last->name = say("last");
}

// What registers and the stack had of it is written over.
static void scrub()
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main()
{
	fill();
	scrub();
	puts("ready");
	fflush(stdout);
	(void)getchar();
	return 0;
}
