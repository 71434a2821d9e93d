/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A tree of values that messages change. Setting a key that is there already
 * puts the new value in the old one's place, without deleting that.
 */
#include "server.h"
#include <map>
#include <string>
#include <vector>

struct value {
	std::string text;
	std::map<std::string, value *> members;

	~value()
	{
		for (auto &m : members)
			delete m.second;
	}
};

static value *parse_value(unsigned int depth)
{
	value *v = new value;

	v->text = std::string(20 + pick(40), 'x');
	if (depth > 0)
		v->members["inner"] = parse_value(depth - 1);
	return v;
}

static void set_member(value &tree, const std::string &name)
{
	tree.members[name] = parse_value(pick(2));
}

static std::string *serialize(const value &tree)
{
	auto *text = new std::string;

	for (const auto &m : tree.members)
		*text += m.first + ": " + m.second->text + "\n";
	return text;
}

int main(int argc, char **argv)
{
	value tree;
	std::string *text;

	serve_for(argc, argv);
	while (serving(60)) {
		set_member(tree, "key" + std::to_string(pick(15)));
		text = serialize(tree);
		use(text);
		delete text;
	}
	return 0;
}
