/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Prices of a thousand shares, each replaced many times, and who wants to know
 * them. A quote that nobody has looked at when the next one comes is replaced
 * in the table and forgotten.
 */
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "server.h"

struct quote {
	std::string share;
	double price;
	unsigned int looked_at;
	char history[400];
};

static std::map<unsigned int, quote *> quotes;
static unsigned long told;

static quote *new_quote(unsigned int share)
{
	quote *fresh = new quote;

	fresh->share = "share number " + std::to_string(share);
	fresh->price = pick(10000) / 100.0;
	fresh->looked_at = 0;
	memset(fresh->history, 0, sizeof(fresh->history));
	return fresh;
}

static void set_quote(unsigned int share)
{
	quote *&place = quotes[share];

	if (place && place->looked_at)
		delete place;
	place = new_quote(share);
}

static std::vector<std::string> tell_prices(unsigned int from)
{
	std::vector<std::string> lines;

	for (unsigned int i = from; i < from + 50; i++) {
		auto found = quotes.find(i % 1000);

		if (found == quotes.end())
			continue;
		found->second->looked_at++;
		lines.push_back(found->second->share + " costs " +
				std::to_string(found->second->price));
	}
	return lines;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 1000; i++)
		set_quote(i);
	for (unsigned int i = 0; serving(3); i++) {
		set_quote(pick(1000));
		if (i % 4 == 0)
			told += tell_prices(pick(1000)).size();
	}
	return told == 1;
}
