/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is to be done with an answer waits under the call's number. Calls that
 * time out are counted, but stay there.
 */
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include "server.h"

static std::unordered_map<unsigned int, std::function<void()>> waiting;
static unsigned int timeouts;

static std::string make_request(unsigned int number)
{
	return "GET /a/resource/with/a/long/name/" + std::to_string(number);
}

static void call_remote(unsigned int number)
{
	auto context = std::make_shared<std::string>(make_request(number));

	waiting.emplace(number, [context] { use(context->data()); });
}

static void receive(unsigned int number)
{
	auto found = waiting.find(number);

	if (found == waiting.end())
		return;
	if (pick(8) == 0) {
		timeouts++;
		return;
	}
	found->second();
	waiting.erase(found);
}

static void log_line(unsigned int number)
{
	std::string line = make_request(number) + " was sent";

	use(line.data());
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		call_remote(i);
		log_line(i);
		if (i > 20)
			receive(i - 20);
	}
	return 0;
}
