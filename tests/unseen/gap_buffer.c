/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Documents that are written and cut again: their buffers grow and shrink with
 * them. One is closed now and then, and another opened.
 */
#include "server.h"

#define OPEN 8

struct document {
	char *title, *text;
	size_t length, size;
};

static struct document *open_ones[OPEN];

static struct document *open_document(unsigned int number)
{
	struct document *d = calloc(1, sizeof(*d));

	if (asprintf(&d->title, "document %u.txt", number) < 0)
		exit(1);
	return d;
}

static void resize(struct document *d, size_t size)
{
	d->text = realloc(d->text, size);
	d->size = size;
}

static void edit(struct document *d)
{
	if (pick(3) || d->length < 200)
		d->length += pick(150);
	else
		d->length -= pick(200);
	if (d->length > 6000)
		d->length = 500;
	if (d->length > d->size)
		resize(d, d->length + d->length / 2);
	else if (d->length < d->size / 4)
		resize(d, d->size / 2);
}

static void close_document(struct document *d)
{
	free(d->title);
	free(d->text);
	free(d);
}

int main(int argc, char **argv)
{
	unsigned int number = 0, i;

	serve_for(argc, argv);
	while (number < OPEN) {
		open_ones[number] = open_document(number);
		number++;
	}
	while (serving(20)) {
		i = pick(OPEN);
		edit(open_ones[i]);
		if (pick(150) == 0) {
			close_document(open_ones[i]);
			open_ones[i] = open_document(number++);
		}
	}
	return 0;
}
