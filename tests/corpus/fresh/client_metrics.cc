// SPDX-License-Identifier: GPL-2.0-or-later
/* truth: count_client */
#include <map>
#include <string>

#include "../corpus.h"

// Each client has a row of its own, also when he never comes again; answers are made
// and dropped beside that.
struct row {
	unsigned long requests;
	std::string last;
};

static std::map<std::string, row> *rows;

PLAIN_CXX static void count_client(const std::string &client)
{
	row &found = (*rows)[client];

	found.requests++;
	found.last = "GET /index.html HTTP/1.1 from " + client;
}

PLAIN_CXX static size_t answer(unsigned size)
{
	std::string text(size, 'x');

	text += "the end of what is answered";
	return text.size();
}

static void step(int i)
{
	if (!rows)
		rows = new std::map<std::string, row>;
	for (int n = 0; n < 5; n++) {
		const unsigned id = pick(4) ? pick(50) :
					      1000u + (unsigned)(i * 5 + n);

		count_client("client-with-a-long-name-" + std::to_string(id));
		answer(100 + pick(2000));
	}
}
