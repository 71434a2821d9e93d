// SPDX-License-Identifier: GPL-2.0-or-later
//
// Uploads are in a map while they last, two seconds. Those that are aborted,
// one in nine, are never erased. Their parts are dropped in time.
#include "server.h"

#include <map>
#include <string>
#include <vector>

struct upload {
	double begun;
	bool aborted;
};

static std::map<unsigned int, upload> uploads;
static std::vector<std::string> parts;

static void begin_upload(unsigned int number)
{
	uploads[number] = upload{ uptime(), pick(9) == 0 };
}

static void add_part(unsigned int number)
{
	parts.push_back("part of the upload with the number " +
			std::to_string(number));
	if (parts.size() > 50)
		parts.erase(parts.begin());
}

static void end_uploads()
{
	for (auto i = uploads.begin(); i != uploads.end();) {
		if (!i->second.aborted && i->second.begun + 2 < uptime())
			i = uploads.erase(i);
		else
			++i;
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(35); i++) {
		begin_upload(i);
		add_part(i);
		end_uploads();
	}
}
