/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mail comes over connections, four at a time, a line at a time. A message whose
 * sender is refused in the end is dropped, but not the list of its recipients.
 * needs: -pthread
 */
#include <pthread.h>
#include <sys/socket.h>
#include "server.h"

#define CLIENTS 4

struct recipient {
	struct recipient *next;
	char address[];
};

struct message {
	struct recipient *recipients;
	char *sender;
	char *body;
	size_t length;
};

static char *keep_sender(const char *line)
{
	return strdup(line + 5);
}

static struct recipient *add_recipient(struct recipient *next, const char *line)
{
	struct recipient *to = malloc(sizeof(*to) + strlen(line) + 120);

	strcpy(to->address, line + 3);
	to->next = next;
	return to;
}

static void add_body(struct message *message, const char *line)
{
	size_t length = strlen(line);

	message->body = realloc(message->body, message->length + length + 1);
	memcpy(message->body + message->length, line, length + 1);
	message->length += length;
}

static void drop(struct message *message)
{
	free(message->sender);
	free(message->body);
	*message = (struct message){ .recipients = NULL };
}

static void deliver(struct message *message)
{
	struct recipient *to, *next;

	for (to = message->recipients; to; to = next) {
		next = to->next;
		use(to->address);
		free(to);
	}
	drop(message);
}

static void end_message(struct message *message)
{
	if (message->sender && strstr(message->sender, "spam"))
		drop(message);
	else
		deliver(message);
}

static void obey(struct message *message, const char *line)
{
	if (!strncmp(line, "FROM ", 5))
		message->sender = keep_sender(line);
	else if (!strncmp(line, "TO ", 3))
		message->recipients = add_recipient(message->recipients, line);
	else if (!strcmp(line, "."))
		end_message(message);
	else
		add_body(message, line);
}

static void *receive(void *socket)
{
	FILE *from = fdopen((int)(intptr_t)socket, "r");
	struct message message = { .recipients = NULL };
	char line[256];

	while (fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = '\0';
		obey(&message, line);
	}
	fclose(from);
	return NULL;
}

static void send_mail(FILE *to, unsigned int number)
{
	fprintf(to, "FROM %s%u@example.org\n", number % 12 ? "user" : "spam",
		number);
	for (unsigned int i = 0; i < 1 + pick(4); i++)
		fprintf(to, "TO recipient-%u@example.com\n", pick(100000));
	for (unsigned int i = 0; i < 3 + pick(20); i++)
		fprintf(to, "line %u of a message that says little\n", i);
	fprintf(to, ".\n");
	fflush(to);
}

int main(int argc, char **argv)
{
	FILE *out[CLIENTS];
	pthread_t threads[CLIENTS];

	serve_for(argc, argv);
	for (int i = 0; i < CLIENTS; i++) {
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			return 1;
		out[i] = fdopen(ends[0], "w");
		pthread_create(&threads[i], NULL, receive,
			       (void *)(intptr_t)ends[1]);
	}
	for (unsigned int i = 0; serving(5); i++)
		send_mail(out[pick(CLIENTS)], i);
	for (int i = 0; i < CLIENTS; i++) {
		fclose(out[i]);
		pthread_join(threads[i], NULL);
	}
	return 0;
}
