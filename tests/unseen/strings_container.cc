// SPDX-License-Identifier: GPL-2.0-or-later
//
// Every event is appended to a list for a report that nobody asks for. The last
// hundred are also in a deque.
#include "server.h"

#include <deque>
#include <list>
#include <string>

static std::list<std::string> report;
static std::deque<std::string> latest;

static std::string describe(unsigned int number)
{
	return "event number " + std::to_string(number) +
	       ", which took longer than was expected";
}

static void report_event(const std::string &event)
{
	report.push_back(event);
}

static void show_event(const std::string &event)
{
	latest.push_back(event);
	if (latest.size() > 100)
		latest.pop_front();
}

static void handle_event(unsigned int number)
{
	std::string event = describe(number);

	show_event(event);
	if (number % 5 == 0)
		report_event(event);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++)
		handle_event(i);
}
