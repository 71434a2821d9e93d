/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * All that a conversation needs comes from a resource that only grows; it is
 * thrown away at the end of the conversation, which takes two to five seconds.
 */
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>
#include "server.h"

struct conversation {
	std::pmr::monotonic_buffer_resource memory;
	std::pmr::vector<std::pmr::string> lines{ &memory };
	double ends = uptime() + 2 + pick(3000) / 1000.0;
};

static std::unique_ptr<conversation> begin_conversation()
{
	return std::make_unique<conversation>();
}

static void add_line(conversation &c, unsigned int number)
{
	c.lines.emplace_back("somebody has said something, number ");
	c.lines.back() += std::to_string(number).c_str();
}

int main(int argc, char **argv)
{
	std::unique_ptr<conversation> open[6];

	serve_for(argc, argv);
	for (unsigned int i = 0; serving(8); i++) {
		auto &c = open[pick(6)];

		if (!c || c->ends < uptime())
			c = begin_conversation();
		add_line(*c, i);
	}
	return 0;
}
