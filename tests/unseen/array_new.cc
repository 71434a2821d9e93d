// SPDX-License-Identifier: GPL-2.0-or-later
//
// A frame is decoded into an array from operator new[], which is lost when the
// checksum is wrong. Palettes are deleted.
#include "server.h"

static unsigned char *new_frame(size_t size)
{
	return new unsigned char[size];
}

static unsigned int *new_palette()
{
	return new unsigned int[64];
}

static bool decode_frame()
{
	unsigned char *frame = new_frame(600 + pick(600));
	unsigned int *palette = new_palette();

	use(frame);
	use(palette);
	delete[] palette;
	if (pick(30) == 0)
		return false;
	delete[] frame;
	return true;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20))
		decode_frame();
}
