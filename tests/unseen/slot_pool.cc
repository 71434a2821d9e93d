/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Clients live in slots that are made once. A client is built into a slot with
 * placement new; nobody calls its destructor when it goes, so that what its
 * name has on the heap stays.
 */
#include <new>
#include <string>
#include <vector>
#include "server.h"

struct client {
	std::string name;
	std::string last_line;
};

static char *slots;
static const unsigned int SLOTS = 16;

static void make_slots()
{
	slots = static_cast<char *>(::operator new(SLOTS * sizeof(client)));
}

static std::string read_name(unsigned int number)
{
	return "a client whose name is long enough, number " +
	       std::to_string(number);
}

static void set_name(client *c, unsigned int number)
{
	c->name = "of the house of " + std::to_string(number) + " and so on";
}

static void answer(unsigned int number)
{
	std::string text = read_name(number);

	use(text.data());
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	make_slots();
	for (unsigned int i = 0; serving(20); i++) {
		answer(i);
		if (i % 4 == 0) {
			void *slot = slots + pick(SLOTS) * sizeof(client);

			set_name(new (slot) client, i);
		}
	}
	return 0;
}
