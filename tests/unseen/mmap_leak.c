/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Maps a snapshot four times a second. If it turns out to be old, which half of
 * them are, it stays mapped. Indexes are unmapped when the next one is there.
 */
#include "server.h"

#include <sys/mman.h>

#define SIZE 65536

static void *map_some(void)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void map_snapshot(int old)
{
	char *snapshot = map_some();

	if (snapshot == MAP_FAILED)
		return;
	snapshot[0] = 1;
	if (!old)
		munmap(snapshot, SIZE);
}

static void map_index(void)
{
	static void *index;

	if (index)
		munmap(index, SIZE);
	index = map_some();
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(250)) {
		map_snapshot(pick(2) == 0);
		map_index();
	}
	return 0;
}
