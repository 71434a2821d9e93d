/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What much debug information is made of: copies of this, renamed. */
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
#include <sstream>
#include <functional>
#include <memory>
int work(const std::string &text)
{
	std::map<std::string, std::vector<int>> index;
	std::unordered_map<int, std::string> names;
	std::regex word("([a-z]+)-([0-9]*)");
	std::smatch match;
	std::stringstream out;
	if (std::regex_search(text, match, word))
		out << match[1];
	for (int i = 0; i < 100; i++) {
		index[text + std::to_string(i)].push_back(i);
		names.emplace(i, text);
	}
	std::vector<std::pair<int, std::string>> all(names.begin(), names.end());
	std::sort(all.begin(), all.end());
	std::function<int(int)> f = [&](int i) { return all[i].first; };
	auto p = std::make_shared<std::map<int, std::function<int(int)>>>();
	(*p)[1] = f;
	return (*p)[1](3) + index.size() + out.str().size();
}
