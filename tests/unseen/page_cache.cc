/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The 3,000 pages that were asked for last, full when the server begins; a page
 * that isn't there takes the place of the one that waited longest. Two threads
 * ask.
 * needs: -pthread
 */
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include "server.h"

struct page {
	unsigned int number;
	std::string text;
};

static std::list<page> pages;
static std::unordered_map<unsigned int, std::list<page>::iterator> by_number;
static std::mutex lock;
static unsigned long sent;

static std::string read_page(unsigned int number)
{
	return std::string(200 + number % 700, 'a' + number % 26);
}

static void keep_page(unsigned int number)
{
	if (pages.size() >= 3000) {
		by_number.erase(pages.back().number);
		pages.pop_back();
	}
	pages.push_front({ number, read_page(number) });
	by_number[number] = pages.begin();
}

static std::string answer(unsigned int number)
{
	std::lock_guard<std::mutex> guard(lock);
	auto found = by_number.find(number);

	if (found == by_number.end())
		keep_page(number);
	else
		pages.splice(pages.begin(), pages, found->second);
	return "<html>" + pages.front().text + "</html>";
}

static void ask(unsigned int from)
{
	for (unsigned int i = from; serving(14); i++)
		sent += answer(pick(3) ? i : i - pick(2000)).size();
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 3000; i++)
		keep_page(i);
	std::thread first(ask, 100000), second(ask, 200000);
	first.join();
	second.join();
	return sent == 1;
}
