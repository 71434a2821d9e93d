/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Draws tiles of a map. Twenty tiles are kept, with a smaller copy of each; when
 * a tile is thrown out that was drawn over, its smaller copy stays behind.
 */
#include "server.h"

#define TILES 20

struct tile {
	unsigned int number, used;
	int is_dirty;
	unsigned char *pixels, *small;
};

static struct tile tiles[TILES];
static unsigned int clock_hand;

static unsigned char *load_pixels(unsigned int number)
{
	unsigned char *pixels = malloc(64 * 64);

	memset(pixels, (int)number, 64 * 64);
	return pixels;
}

static unsigned char *scale_down(const unsigned char *pixels)
{
	unsigned char *small = malloc(32 * 32);

	for (unsigned int i = 0; i < 32 * 32; i++)
		small[i] = pixels[4 * i];
	return small;
}

static void throw_out(struct tile *t)
{
	if (t->is_dirty) {
		t->small = NULL;
		t->is_dirty = 0;
	}
	free(t->small);
	free(t->pixels);
}

static struct tile *find_tile(unsigned int number)
{
	for (struct tile *t = tiles; t < tiles + TILES; t++)
		if (t->pixels && t->number == number)
			return t;
	return NULL;
}

static struct tile *show(unsigned int number)
{
	struct tile *t = find_tile(number);

	if (t)
		return t;
	t = &tiles[clock_hand++ % TILES];
	throw_out(t);
	t->number = number;
	t->pixels = load_pixels(number);
	t->small = scale_down(t->pixels);
	return t;
}

int main(int argc, char **argv)
{
	struct tile *t;

	serve_for(argc, argv);
	while (serving(35)) {
		t = show(pick(60));
		if (pick(5) == 0)
			t->is_dirty = 1;
	}
	return 0;
}
