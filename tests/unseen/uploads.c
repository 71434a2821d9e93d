/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files come in pieces, several at a time, and grow in memory until they are
 * whole. Of some the client goes away before: the slot is used again, and what
 * had come is forgotten.
 */
#include "server.h"

#define SLOTS 24
#define PIECE 700

struct upload {
	char *data;
	size_t length, room, size;
	char *name;
};

static struct upload slots[SLOTS];
static unsigned long stored;

static char *name_file(unsigned int number)
{
	char *name = NULL;

	if (asprintf(&name, "upload-%u.bin", number) < 0)
		abort();
	return name;
}

static void more_room(struct upload *upload)
{
	upload->room = upload->room ? 2 * upload->room : 1024;
	upload->data = realloc(upload->data, upload->room);
	if (!upload->data)
		abort();
}

static void begin_upload(struct upload *upload, unsigned int number)
{
	upload->name = name_file(number);
	upload->size = PIECE * (2 + pick(20));
	upload->data = NULL;
	upload->length = upload->room = 0;
}

static void store(struct upload *upload)
{
	stored += upload->length;
	free(upload->data);
	free(upload->name);
	upload->name = NULL;
}

static void client_gone(struct upload *upload)
{
	free(upload->name);
	upload->name = NULL;
}

static void take_piece(struct upload *upload)
{
	while (upload->length + PIECE > upload->room)
		more_room(upload);
	memset(upload->data + upload->length, 'x', PIECE);
	upload->length += PIECE;
	if (upload->length >= upload->size)
		store(upload);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; serving(2); i++) {
		struct upload *upload = &slots[pick(SLOTS)];

		if (!upload->name)
			begin_upload(upload, i);
		else if (pick(150) == 0)
			client_gone(upload);
		else
			take_piece(upload);
	}
	return stored == 1;
}
