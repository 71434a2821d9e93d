// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tasks go to two threads as objects with virtual functions. Some of them take
// long. The log of what was done is a vector that is cleared when it is full,
// and keeps its memory.
#include "server.h"

#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

struct task {
	virtual ~task() {}
	virtual unsigned int run() = 0;
};

struct print_task : task {
	std::string text = std::string(100, 'p');
	unsigned int run() override { return 20; }
};

struct sort_task : task {
	std::vector<int> numbers = std::vector<int>(80, 1);
	unsigned int run() override { return pick(20) ? 30 : 900; }
};

static std::mutex lock;
static std::queue<std::unique_ptr<task>> tasks;
static std::vector<std::string> done;

static void submit()
{
	std::unique_ptr<task> t;

	if (pick(2))
		t.reset(new print_task());
	else
		t.reset(new sort_task());
	std::lock_guard<std::mutex> guard(lock);
	tasks.push(std::move(t));
}

static void note_done()
{
	std::lock_guard<std::mutex> guard(lock);

	if (done.size() == 300)
		done.clear();
	done.push_back("another task is done, and that's good");
}

static void work()
{
	std::unique_ptr<task> t;

	do {
		{
			std::lock_guard<std::mutex> guard(lock);

			t.reset();
			if (!tasks.empty()) {
				t = std::move(tasks.front());
				tasks.pop();
			}
		}
		if (t)
			note_done();
	} while (serving(t ? t->run() : 10));
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);

	std::thread one(work), two(work);

	while (serving(60))
		submit();
	one.join();
	two.join();
}
