/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A cache of 200 pages that is full from the start. A few pages are asked for
 * all the time and so stay for ever; the others are thrown out in turn.
 */
#include "server.h"

#define PAGES 200

struct page {
	unsigned int number;
	unsigned int used;
	char *content;
};

static struct page cache[PAGES];
static unsigned int ticks;

static char *read_page(unsigned int number)
{
	char *content = malloc(1000);

	snprintf(content, 1000, "page %u", number);
	return content;
}

static struct page *oldest_page(void)
{
	struct page *oldest = cache;

	for (struct page *p = cache; p < cache + PAGES; p++)
		if (p->used < oldest->used)
			oldest = p;
	return oldest;
}

static void get_page(unsigned int number)
{
	struct page *p = cache;

	while (p < cache + PAGES && !(p->content && p->number == number))
		p++;
	if (p == cache + PAGES) {
		p = oldest_page();
		free(p->content);
		p->content = read_page(number);
		p->number = number;
	}
	p->used = ++ticks;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < 2 * PAGES; i++)
		get_page(i);
	while (serving(15))
		get_page(pick(2) ? pick(30) : pick(20000));
	return 0;
}
