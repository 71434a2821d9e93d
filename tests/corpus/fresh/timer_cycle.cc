// SPDX-License-Identifier: GPL-2.0-or-later
/* truth: open_session */
#include <functional>
#include <list>
#include <memory>

#include "../corpus.h"

// A session has a timer that has a function that has the session: of those that end
// by themselves, not by their timer, nobody takes that apart.
struct timer {
	std::function<void()> fires;
};

struct session {
	std::shared_ptr<timer> own;
	char data[120];
};

static std::list<std::shared_ptr<session> > *active;

PLAIN_CXX static std::shared_ptr<session> open_session()
{
	auto opened = std::make_shared<session>();

	opened->own = std::make_shared<timer>();
	opened->own->fires = [opened] { opened->data[0]++; };
	return opened;
}

static void step(int i)
{
	if (!active)
		active = new std::list<std::shared_ptr<session> >;
	for (int n = 0; n < 4; n++)
		active->push_back(open_session());
	while (active->size() > 20) {
		std::shared_ptr<session> oldest = active->front();

		active->pop_front();
		oldest->own->fires();
		if (pick(5))
			oldest->own->fires = nullptr;
	}
	(void)i;
}
