/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Pictures are read row by row into a buffer that grows, and eight buffers are
 * kept for the next ones. Pictures of few colours have a palette, which is
 * forgotten when the picture turns out to be broken.
 */
#include "server.h"

struct picture {
	unsigned char *rows, *palette;
	size_t bytes, room;
};

static unsigned char *spare[8];
static unsigned int spares;

static unsigned char *take_rows(void)
{
	return spares ? spare[--spares] : malloc(4096);
}

static void give_rows(unsigned char *rows)
{
	if (spares < ARRAY_SIZE(spare))
		spare[spares++] = rows;
	else
		free(rows);
}

static unsigned char *read_palette(void)
{
	unsigned char *palette = malloc(768);

	memset(palette, 1, 768);
	return palette;
}

static void read_row(struct picture *p)
{
	if (p->bytes + 400 > p->room) {
		p->room = p->room * 2;
		p->rows = realloc(p->rows, p->room);
	}
	memset(p->rows + p->bytes, 0, 400);
	p->bytes += 400;
}

static int read_picture(struct picture *p)
{
	unsigned int rows = 5 + pick(40);

	p->rows = take_rows();
	p->room = 4096;
	if (pick(3) == 0)
		p->palette = read_palette();
	while (rows--) {
		read_row(p);
		if (pick(600) == 0)
			return -1;
	}
	return 0;
}

static void shrink(struct picture *p)
{
	unsigned char *small = calloc(1, 64 * 64);

	use(small);
	free(small);
	free(p->palette);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(25)) {
		struct picture p = { 0 };

		if (read_picture(&p) == 0)
			shrink(&p);
		give_rows(p.rows);
	}
	return 0;
}
