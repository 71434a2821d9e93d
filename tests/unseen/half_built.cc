/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A constructor takes a header, then reads a body, which fails now and then: the
 * destructor of what was never built is not run, and the header is lost.
 */
#include <memory>
#include <stdexcept>
#include "server.h"

static char *read_header()
{
	return new char[200];
}

static std::unique_ptr<char[]> read_body()
{
	std::unique_ptr<char[]> body(new char[600 + pick(600)]);

	if (pick(10) == 0)
		throw std::runtime_error("the body is too short for its type");
	return body;
}

class request {
public:
	request() : header(read_header()), body(read_body()) {}
	~request() { delete[] header; }
	request(const request &) = delete;
	request &operator=(const request &) = delete;

private:
	char *header;
	std::unique_ptr<char[]> body;
};

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25)) {
		try {
			request r;

			use(&r);
		} catch (const std::runtime_error &error) {
			use(error.what());
		}
	}
	return 0;
}
