/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads its settings again when it is told to. A key may have several values in
 * a list; the list's head is freed with the key, the rest of the list isn't.
 */
#include "server.h"

struct value {
	struct value *next;
	char text[24];
};

struct key {
	struct key *next;
	char *name;
	struct value first, *more;
};

static struct key *settings;

static struct value *add_value(struct key *key, unsigned int number)
{
	struct value *v = malloc(sizeof(*v));

	snprintf(v->text, sizeof(v->text), "value %u", number);
	v->next = key->more;
	return key->more = v;
}

static struct key *read_key(unsigned int number)
{
	struct key *key = calloc(1, sizeof(*key));

	if (asprintf(&key->name, "section.key%u", number) < 0)
		exit(1);
	snprintf(key->first.text, sizeof(key->first.text), "value");
	for (unsigned int i = pick(4) ? 0 : 2; i > 0; i--)
		use(add_value(key, i));
	return key;
}

static void drop_settings(void)
{
	struct key *next;

	for (struct key *key = settings; key; key = next) {
		next = key->next;
		free(key->name);
		free(key);
	}
	settings = NULL;
}

static void read_settings(void)
{
	struct key *key;

	for (unsigned int i = 0; i < 12; i++) {
		key = read_key(i);
		key->next = settings;
		settings = key;
	}
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(700)) {
		drop_settings();
		read_settings();
	}
	drop_settings();
	return 0;
}
