// SPDX-License-Identifier: GPL-2.0-or-later
//
// Observers have ended long before the list of weak_ptr is swept, every five
// seconds, and their memory is only then given back.
#include "server.h"

#include <memory>
#include <vector>

struct observer {
	unsigned int number;
	char state[90];
};

static std::vector<std::weak_ptr<observer>> observers;

static std::shared_ptr<observer> new_observer()
{
	return std::make_shared<observer>();
}

static void sweep()
{
	std::vector<std::weak_ptr<observer>> alive;

	for (auto &o : observers)
		if (!o.expired())
			alive.push_back(o);
	observers.swap(alive);
}

int main(int argc, char **argv)
{
	double due = 5;

	serve_for(argc, argv);
	while (serving(30)) {
		auto o = new_observer();

		observers.push_back(o);
		use(o.get());
		if (uptime() < due)
			continue;
		sweep();
		due += 5;
	}
}
