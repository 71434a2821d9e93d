// SPDX-License-Identifier: GPL-2.0-or-later
//
// A session and its user point at each other with shared_ptr, so neither goes
// away. A task points back at its owner with weak_ptr, and does.
#include "server.h"

#include <memory>
#include <string>

struct session;

struct user {
	std::string name = "a name that is too long for the object itself";
	std::shared_ptr<struct session> current;
};

struct session {
	std::shared_ptr<user> who;
	char data[100];
};

struct task {
	std::weak_ptr<task> self;
	char data[60];
};

static std::shared_ptr<user> new_user()
{
	return std::make_shared<user>();
}

static std::shared_ptr<session> new_session(std::shared_ptr<user> who)
{
	auto s = std::make_shared<session>();

	s->who = who;
	return s;
}

static void run_task()
{
	auto t = std::make_shared<task>();

	t->self = t;
	use(t.get());
}

static void log_in()
{
	auto u = new_user();

	u->current = new_session(u);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(40); i++) {
		run_task();
		if (i % 12 == 0)
			log_in();
	}
}
