/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Timers of very different lengths: half are over in a tenth of a second, few
 * take up to fifteen. Each fires once.
 */
#include <memory>
#include <queue>
#include <string>
#include <vector>
#include "server.h"

struct timer {
	double at;
	std::string what;
};

struct later {
	bool operator()(const std::shared_ptr<timer> &a,
			const std::shared_ptr<timer> &b) const
	{
		return a->at > b->at;
	}
};

static std::priority_queue<std::shared_ptr<timer>,
			   std::vector<std::shared_ptr<timer>>, later> timers;

static void set_timer(unsigned int number)
{
	double takes = 0.1 / ((pick(1000) + 7) / 1007.0);
	auto t = std::make_shared<timer>();

	t->at = uptime() + takes;
	t->what = "what is to be done then, number " + std::to_string(number);
	timers.push(t);
}

static std::string fire(const timer &t)
{
	return t.what + " is done";
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(10); i++) {
		set_timer(i);
		while (timers.top()->at < uptime()) {
			std::string text = fire(*timers.top());

			use(text.data());
			timers.pop();
		}
	}
	return 0;
}
