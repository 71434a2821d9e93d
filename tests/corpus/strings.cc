/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings and vectors as C++ uses them. */
/* truth: none */
#include "corpus.h"

#include <string>
#include <vector>

PLAIN_CXX std::string sentence(int words)
{
	std::string text;

	for (int i = 0; i < words; i++)
		text += "word ";
	return text;
}

static void step(int i)
{
	std::vector<std::string> all;

	for (int k = 0; k < 5; k++)
		all.push_back(sentence(i % 40));
}
