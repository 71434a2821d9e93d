// SPDX-License-Identifier: GPL-2.0-or-later
//
// A vector that only grows, as each number of a visitor is appended; and one
// that is swapped with an empty one every four seconds.
#include "server.h"

#include <vector>

static std::vector<unsigned long> visitors, recent;

static void note_visitor(unsigned long number)
{
	visitors.push_back(number);
}

static void note_recent(unsigned long number)
{
	recent.push_back(number);
}

int main(int argc, char **argv)
{
	double due = 4;

	serve_for(argc, argv);
	for (unsigned long i = 0; serving(4); i++) {
		note_visitor(i);
		note_recent(i);
		if (uptime() < due)
			continue;
		std::vector<unsigned long>().swap(recent);
		due += 4;
	}
}
