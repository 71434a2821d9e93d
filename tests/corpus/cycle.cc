/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two that point to each other with counted pointers. */
/* truth: link */
#include "corpus.h"

#include <memory>

struct person {
	std::shared_ptr<person> friend_of;
	char data[40];
};

PLAIN_CXX std::shared_ptr<person> link()
{
	return std::make_shared<person>();
}

static void step(int i)
{
	if (i % 3)
		return;
	auto a = link(), b = link();
	a->friend_of = b;
	if (i % 2)
		b->friend_of = a;
}
