/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map that holds the last eighty. */
/* truth: none */
#include "corpus.h"

#include <map>
#include <string>

std::map<int, std::string> recent;

PLAIN_CXX void remember(int key)
{
	recent[key] = std::string(60, 'x');
	if (recent.size() > 80)
		recent.erase(recent.begin());
}

static void step(int i)
{
	remember(i);
}
