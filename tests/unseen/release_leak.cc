// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls release() of a unique_ptr where get() was meant. Where the pointer is
// moved instead, nothing is lost.
#include "server.h"

#include <memory>

struct page {
	char text[400];
};

struct icon {
	char pixels[256];
};

static std::unique_ptr<page> fetch_page()
{
	return std::unique_ptr<page>(new page());
}

static std::unique_ptr<icon> fetch_icon()
{
	return std::unique_ptr<icon>(new icon());
}

static void show(const page *p)
{
	use(p);
}

static void keep(std::unique_ptr<icon> i)
{
	static std::unique_ptr<icon> last;

	last = std::move(i);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(350)) {
		show(fetch_page().release());
		keep(fetch_icon());
	}
}
