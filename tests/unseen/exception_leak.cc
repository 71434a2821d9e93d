// SPDX-License-Identifier: GPL-2.0-or-later
//
// A record that can't be parsed throws, and takes the only pointer to a buffer
// with it. The exceptions themselves, and the fields, are freed.
#include "server.h"

#include <memory>
#include <stdexcept>

struct buffer {
	char bytes[256];
};

struct field {
	char text[60];
};

static buffer *new_buffer()
{
	return new buffer();
}

static void parse_field()
{
	std::unique_ptr<field> f(new field());

	use(f.get());
	if (pick(18) == 0)
		throw std::runtime_error("a field is missing in this record");
}

static void parse_record()
{
	buffer *b = new_buffer();

	use(b);
	parse_field();
	delete b;
}

int main(int argc, char **argv)
{
	volatile unsigned int errors = 0;

	serve_for(argc, argv);
	while (serving(30)) {
		try {
			parse_record();
		} catch (const std::exception &e) {
			errors = errors + 1;
		}
	}
}
