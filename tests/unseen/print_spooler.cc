// SPDX-License-Identifier: GPL-2.0-or-later
//
// Jobs wait for the printer; some are cancelled, and leave the queue by
// release() where reset() was meant.
#include "server.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

struct job {
	std::string owner;
	std::vector<std::string> pages;
	double ready;
};

static std::deque<std::unique_ptr<job>> queue;
static std::vector<std::string> recent;

static std::unique_ptr<job> new_job(unsigned int number)
{
	std::unique_ptr<job> made(new job());

	made->ready = uptime() + 0.4 + pick(1000) / 1000.0;
	return made;
}

static void fill_job(job &j, unsigned int number)
{
	j.owner = "somebody with a long name " + std::to_string(number);
	for (unsigned int i = 0; i < 1 + pick(4); i++)
		j.pages.push_back(std::string(100 + pick(100), 'x'));
}

static void note_owner(const job &j)
{
	recent.push_back(j.owner);
	if (recent.size() > 40)
		recent.erase(recent.begin());
}

static void print_jobs()
{
	while (!queue.empty() && queue.front()->ready < uptime()) {
		note_owner(*queue.front());
		queue.pop_front();
	}
}

static void cancel()
{
	if (queue.empty())
		return;
	queue.back().release();
	queue.pop_back();
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(30); i++) {
		queue.push_back(new_job(i));
		fill_job(*queue.back(), i);
		print_jobs();
		if (pick(25) == 0)
			cancel();
	}
	return 0;
}
