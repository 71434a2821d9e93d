/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Clients watch a file for a second or two. Taking a watcher out of the list
 * fails if it stands first there, so that one watcher in some dozens remains.
 */
#include "server.h"

struct watcher {
	struct watcher *next;
	double until;
	char path[70];
};

static struct watcher *list;

static void add_watcher(unsigned int number)
{
	struct watcher *w = malloc(sizeof(*w));

	w->until = uptime() + 0.3 + pick(1000) / 1000.0;
	snprintf(w->path, sizeof(w->path), "/var/spool/%u", number);
	w->next = list;
	list = w;
}

static void note_event(struct watcher *w)
{
	char *event = strdup(w->path);

	use(event);
	free(event);
}

static void remove_watchers(void)
{
	struct watcher *w, *gone;

	for (w = list; w && w->next;) {
		gone = w->next;
		if (gone->until < 0 || gone->until > uptime()) {
			w = gone;
			continue;
		}
		note_event(gone);
		w->next = gone->next;
		free(gone);
	}
	if (list && list->until < uptime())
		list->until = -1;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(20); i++) {
		if (i % 100 < 60)
			add_watcher(i);
		remove_watchers();
	}
	return 0;
}
