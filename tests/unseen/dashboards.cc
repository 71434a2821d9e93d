// SPDX-License-Identifier: GPL-2.0-or-later
//
// Dashboards show panels that are computed again each second. Who opens one
// listens to the panel; who leaves is struck off the page, but goes on listening.
#include "server.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct panel {
	std::string text;
	std::vector<std::function<void()>> listeners;
};

struct viewer {
	std::string name;
	double until;
	unsigned int seen;
};

static std::map<unsigned int, std::shared_ptr<panel>> panels;
static std::vector<std::shared_ptr<viewer>> viewers;

static std::shared_ptr<viewer> open_viewer(unsigned int number)
{
	auto v = std::make_shared<viewer>();

	v->until = uptime() + 0.3 + pick(2000) / 1000.0;
	return v;
}

static void listen_to(panel &p, std::shared_ptr<viewer> v)
{
	p.listeners.push_back([v] { v->seen++; });
}

static void compute(panel &p, unsigned int number)
{
	std::string text(200 + pick(200), 'p');

	p.text = text;
	for (auto &tell : p.listeners)
		tell();
}

static void leave()
{
	for (size_t i = 0; i < viewers.size();)
		if (viewers[i]->until < uptime())
			viewers.erase(viewers.begin() + i);
		else
			i++;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 6; i++)
		panels[i] = std::make_shared<panel>();
	for (unsigned int i = 0; serving(40); i++) {
		auto &p = *panels[pick(6)];

		if (i % 5 == 0) {
			viewers.push_back(open_viewer(i));
			listen_to(p, viewers.back());
		}
		compute(p, i);
		leave();
	}
	return 0;
}
