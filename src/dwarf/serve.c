/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "dwarf/calls.h"
#include "dwarf/debug_type.h"
#include "dwarf/function.h"
#include "dwarf/infofile.h"
#include "dwarf/places.h"
#include "dwarf/way.h"
#include "dwarf/wire.h"
#include "sysdeps/linux/confine.h"

/* So many files may be open. */
#define FILES_MAX 65536

struct server {
	struct infofile **files; /* by number; NULL: not open */
	size_t count;
};

static struct infofile *file_at(const struct server *server, uint32_t number)
{
	return number < server->count ? server->files[number] : NULL;
}

static void make_room(struct server *server, uint32_t number)
{
	while (server->count <= number) {
		server->files = xreallocarray(server->files, server->count + 1,
					      sizeof(*server->files));
		server->files[server->count++] = NULL;
	}
}

/* Takes the descriptors over. */
static int open_file(struct server *server, uint32_t number, const int *fds)
{
	struct infofile *file;
	int err = -EINVAL;

	if (fds[0] >= 0 && number < FILES_MAX && !file_at(server, number)) {
		confine_allow(fds, WIRE_FDS);
		err = infofile_open(fds[0], fds[1], &file);
		if (!err) {
			make_room(server, number);
			server->files[number] = file;
		}
		return err;
	}
	if (fds[0] >= 0)
		close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	return err;
}

static int find_places(struct infofile *file, struct cursor *body,
		       struct strbuf *out)
{
	unsigned count = 0;

	if (!file)
		return -EINVAL;
	infofile_tidy(file);
	while (!cursor_at_end(body) && count++ < WIRE_ADDRESSES_MAX) {
		uint64_t address = cursor_u64(body);

		if (!body->bad)
			places_write(file, address, out);
	}
	return body->bad ? -EINVAL : 0;
}

static int find_function(struct infofile *file, struct cursor *body,
			 struct strbuf *out)
{
	uint64_t address = cursor_u64(body);

	if (!file || body->bad)
		return -EINVAL;
	infofile_tidy(file);
	return function_write(file, address, out);
}

static int find_tails(struct infofile *file, struct cursor *body,
		      struct strbuf *out)
{
	uint64_t address = cursor_u64(body);

	if (!file || body->bad)
		return -EINVAL;
	infofile_tidy(file);
	calls_write_tails(file, address, out);
	return 0;
}

static int find_way(struct infofile *file, struct cursor *body,
		    struct strbuf *out)
{
	const uint64_t variable = cursor_u64(body);
	uint64_t offsets[DEBUG_STEPS_MAX];
	unsigned count = 0;

	while (!cursor_at_end(body) && count < DEBUG_STEPS_MAX)
		offsets[count++] = cursor_u64(body);
	if (!file || body->bad)
		return -EINVAL;
	infofile_tidy(file);
	way_write(file, variable, offsets, count, out);
	return 0;
}

static int answer(struct server *server, const struct wire_head *head,
		  struct cursor *body, const int *fds, struct strbuf *out)
{
	struct infofile *file = file_at(server, head->file);

	switch ((enum wire_order)head->kind) {
	case WIRE_OPEN:
		return open_file(server, head->file, fds);
	case WIRE_PLACES:
		return find_places(file, body, out);
	case WIRE_FUNCTION:
		return find_function(file, body, out);
	case WIRE_TAILS:
		return find_tails(file, body, out);
	case WIRE_WAY:
		return find_way(file, body, out);
	}
	return -EINVAL;
}

static bool reply(int socket, const struct wire_head *asked, int status,
		  const struct strbuf *out)
{
	struct wire_head head = {
		.kind = status,
		.file = asked->file,
		.number = asked->number,
		.size = status ? 0 : out->length,
	};

	if (head.size > WIRE_BODY_MAX) {
		head.kind = -EMSGSIZE;
		head.size = 0;
	}
	return wire_send_head(socket, &head, NULL, 0) &&
	       wire_send(socket, strbuf_text(out), head.size);
}

static bool serve_one(struct server *server, int socket)
{
	struct strbuf out = { 0 };
	struct wire_head head;
	int fds[WIRE_FDS];
	struct cursor c;
	bool going_on;
	void *body;

	if (!wire_receive_head(socket, &head, fds) || head.size > WIRE_BODY_MAX)
		return false;
	body = xmalloc(head.size + 1);
	going_on = wire_receive(socket, body, head.size);
	c = cursor_of(body, head.size);
	if (going_on)
		going_on = reply(socket, &head,
				 answer(server, &head, &c, fds, &out), &out);
	strbuf_fini(&out);
	free(body);
	return going_on;
}

void serve(int socket)
{
	struct server server = { 0 };

	while (serve_one(&server, socket))
		;
}
