/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Converts messages between character sets. A message that isn't in the set
 * that it is said to be in is handed back, and its converter stays open.
 */
#include "server.h"
#include <iconv.h>

static iconv_t open_converter(void)
{
	return iconv_open("UTF-16LE", "UTF-8");
}

static char *make_message(unsigned int size)
{
	char *text = malloc(size);

	memset(text, 'a', size);
	if (pick(7) == 0)
		text[size / 2] = (char)0xff;
	return text;
}

static int convert_text(char *text, size_t size)
{
	iconv_t converter = open_converter();
	char *room = malloc(4 * size), *to = room, *from = text;
	size_t left = 4 * size;
	int err = 0;

	if (iconv(converter, &from, &size, &to, &left) == (size_t)-1)
		err = -1;
	else
		iconv_close(converter);
	free(room);
	return err;
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	while (serving(20)) {
		unsigned int size = 40 + pick(500);
		char *text = make_message(size);

		convert_text(text, size);
		free(text);
	}
	return 0;
}
