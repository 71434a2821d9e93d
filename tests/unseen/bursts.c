/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every four seconds a hundred to two hundred updates arrive at once. They stay
 * until the next burst. In between there is next to nothing to do.
 */
#include "server.h"

static char *updates[200];
static unsigned int n_updates;

static void apply_update(void)
{
	updates[n_updates++] = calloc(1, 60 + pick(100));
}

static void drop_updates(void)
{
	while (n_updates)
		free(updates[--n_updates]);
}

static void look_around(void)
{
	char *note = strdup("all quiet");

	use(note);
	free(note);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(400); i++) {
		look_around();
		if (i % 10)
			continue;
		drop_updates();
		for (unsigned int n = 100 + pick(100); n; n--)
			apply_update();
	}
	return 0;
}
