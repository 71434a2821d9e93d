/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Requests come by TCP, each with its headers, in three threads. Of headers that
 * come twice the first is overwritten where it stands in the table of those that
 * matter, and nobody has it then.
 * needs: -pthread
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include "server.h"

#define WORKERS 3
#define HEADERS 5

static const char *const names[HEADERS] = { "Host", "Accept", "Cookie",
					    "Range", "Via" };
static int listener;

struct request {
	char *path;
	char *values[HEADERS];
};

static char *take_path(const char *line)
{
	return strndup(line + 4, strcspn(line + 4, " "));
}

static char *take_value(const char *line)
{
	const char *value = strchr(line, ':') + 1;
	char *copy = malloc(strlen(value) + 64);

	return strcpy(copy, value);
}

static void take_header(struct request *request, const char *line)
{
	size_t length = strcspn(line, ":");

	for (int i = 0; i < HEADERS; i++)
		if (strlen(names[i]) == length &&
		    !strncmp(names[i], line, length))
			request->values[i] = take_value(line);
}

static char *make_answer(const struct request *request)
{
	char *answer = NULL;

	if (asprintf(&answer, "HTTP/1.0 200 OK\r\n\r\n%s for %s\r\n",
		     request->path, request->values[0]) < 0)
		abort();
	return answer;
}

static void serve(FILE *client)
{
	struct request request = { .path = NULL };
	char line[512], *answer;

	while (fgets(line, sizeof(line), client) && line[0] != '\r')
		if (!strncmp(line, "GET ", 4))
			request.path = take_path(line);
		else if (strchr(line, ':'))
			take_header(&request, line);
	answer = make_answer(&request);
	fputs(answer, client);
	free(answer);
	free(request.path);
	for (int i = 0; i < HEADERS; i++)
		free(request.values[i]);
}

static void *work(void *unused)
{
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		FILE *client = fdopen(fd, "r+");

		serve(client);
		fclose(client);
	}
	return unused;
}

static void ask(const struct sockaddr_in *where, unsigned int number)
{
	char text[1024];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int length = snprintf(text, sizeof(text),
			      "GET /page/%u HTTP/1.0\r\nHost: example.org\r\n"
			      "Accept: text/html\r\n%sVia: a proxy\r\n\r\n",
			      number,
			      number % 25 ? "" :
					    "Cookie: a=1; and some more\r\n"
					    "Cookie: b=2; and some more\r\n");

	if (connect(fd, (const struct sockaddr *)where, sizeof(*where)) == 0 &&
	    write(fd, text, length) == length)
		while (read(fd, text, sizeof(text)) > 0)
			;
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in where = { .sin_family = AF_INET };
	socklen_t length = sizeof(where);
	pthread_t threads[WORKERS];

	serve_for(argc, argv);
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&where, length) ||
	    listen(listener, 16) ||
	    getsockname(listener, (struct sockaddr *)&where, &length))
		return 1;
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (unsigned int i = 0; serving(4); i++)
		ask(&where, i);
	shutdown(listener, SHUT_RDWR);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
