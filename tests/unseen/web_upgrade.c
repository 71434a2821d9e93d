/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A server on a TCP port, with a thread for each connection. A connection that
 * becomes a web socket forgets the headers that it began with.
 */
#include "server.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

struct connection {
	int fd;
	char *headers;
	char *body;
};

static char *read_headers(int fd)
{
	char *headers = malloc(512);
	ssize_t length = recv(fd, headers, 511, 0);

	headers[length > 0 ? length : 0] = 0;
	return headers;
}

static char *make_body(const char *headers)
{
	char *body = malloc(300);

	snprintf(body, 300, "HTTP/1.1 200\r\n\r\nYou said %.40s", headers);
	return body;
}

static struct connection *new_connection(int fd)
{
	struct connection *c = calloc(1, sizeof(*c));

	c->fd = fd;
	return c;
}

static void *serve_connection(void *argument)
{
	struct connection *c = argument;

	c->headers = read_headers(c->fd);
	c->body = make_body(c->headers);
	if (strstr(c->headers, "Upgrade:"))
		c->headers = NULL;
	if (send(c->fd, c->body, strlen(c->body), MSG_NOSIGNAL) < 0)
		use(c);
	close(c->fd);
	free(c->body);
	free(c->headers);
	free(c);
	return NULL;
}

static int listen_somewhere(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*at);

	memset(at, 0, sizeof(*at));
	at->sin_family = AF_INET;
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)at, size) || listen(fd, 5) ||
	    getsockname(fd, (struct sockaddr *)at, &size))
		exit(1);
	return fd;
}

static void visit(const struct sockaddr_in *at, int listener)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	const char *text = pick(6) ? "GET / HTTP/1.1\r\n\r\n" :
				     "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
	char reply[400];
	pthread_t thread;

	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) ||
	    send(fd, text, strlen(text), 0) < 0)
		exit(1);
	pthread_create(&thread, NULL, serve_connection,
		       new_connection(accept(listener, NULL, NULL)));
	while (recv(fd, reply, sizeof(reply), 0) > 0)
		;
	pthread_join(thread, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at;
	int listener;

	serve_for(argc, argv);
	listener = listen_somewhere(&at);
	while (serving(40))
		visit(&at, listener);
	return 0;
}
