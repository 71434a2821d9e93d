/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A chat server with real connections. Somebody who takes another name loses the
 * old one; lines are queued for each who is there, clients come and go.
 *
 * needs: -lpthread
 */
#include "server.h"
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define GUESTS 12

struct line {
	struct line *next;
	char text[64];
};

struct guest {
	int fd;
	char *nick;
	struct line *queue;
};

static struct guest *room[GUESTS];
static int clients[GUESTS];

static void set_nick(struct guest *g, const char *nick)
{
	g->nick = strdup(nick);
}

static struct line *queue_line(struct guest *g, const char *text)
{
	struct line *line = malloc(sizeof(*line));

	snprintf(line->text, sizeof(line->text), "%s", text);
	line->next = g->queue;
	return g->queue = line;
}

static struct guest *accept_guest(int fd)
{
	struct guest *g = calloc(1, sizeof(*g));

	g->fd = fd;
	return g;
}

static void send_lines(struct guest *g)
{
	struct line *line;

	while ((line = g->queue)) {
		g->queue = line->next;
		if (send(g->fd, line->text, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			use(line);
		free(line);
	}
}

static void enter(unsigned int i)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		exit(1);
	clients[i] = ends[1];
	room[i] = accept_guest(ends[0]);
}

static void leave(unsigned int i)
{
	send_lines(room[i]);
	close(room[i]->fd);
	close(clients[i]);
	free(room[i]->nick);
	free(room[i]);
	enter(i);
}

static void serve_guest(struct guest *g)
{
	char said[80];
	ssize_t length = recv(g->fd, said, sizeof(said) - 1, MSG_DONTWAIT);

	if (length <= 0)
		return;
	said[length] = 0;
	if (said[0] == '/')
		set_nick(g, said + 1);
	else
		for (unsigned int i = 0; i < GUESTS; i++)
			use(queue_line(room[i], said));
}

static void say_something(unsigned int i)
{
	char junk[256];
	char text[32];

	recv(clients[i], junk, sizeof(junk), MSG_DONTWAIT);
	snprintf(text, sizeof(text), pick(5) ? "hello %u" : "/nick%u", pick(99));
	if (send(clients[i], text, strlen(text), MSG_NOSIGNAL) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	serve_for(argc, argv);
	for (unsigned int i = 0; i < GUESTS; i++)
		enter(i);
	while (serving(40)) {
		say_something(pick(GUESTS));
		for (unsigned int i = 0; i < GUESTS; i++) {
			serve_guest(room[i]);
			send_lines(room[i]);
		}
		if (pick(60) == 0)
			leave(pick(GUESTS));
	}
	return 0;
}
