/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A cache with room for 400 thumbnails that is still empty when the server
 * begins. It fills in some fifteen seconds; from then on each new thumbnail
 * takes the place of one that is chosen by chance.
 */
#include "server.h"

#define ROOM 400

static char *cache[ROOM];

static char *make_thumbnail(void)
{
	char *thumbnail = malloc(256 + pick(256));

	use(thumbnail);
	return thumbnail;
}

int main(int argc, char **argv)
{
	unsigned int n = 0, slot;

	serve_for(argc, argv);
	while (serving(37)) {
		slot = n < ROOM ? n++ : pick(ROOM);
		free(cache[slot]);
		cache[slot] = make_thumbnail();
	}
	return 0;
}
