/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Buffers for direct input and output. One write in ten is short, and its
 * buffer is then forgotten. Reads free theirs.
 */
#include "server.h"

static void *io_buffer(size_t size)
{
	void *buffer = NULL;

	if (posix_memalign(&buffer, 512, size))
		abort();
	return buffer;
}

static void read_block(void)
{
	void *buffer = io_buffer(4096);

	use(buffer);
	free(buffer);
}

static void write_block(void)
{
	void *buffer = io_buffer(4096);

	use(buffer);
	if (pick(10))
		free(buffer);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(50)) {
		read_block();
		write_block();
	}
	return 0;
}
