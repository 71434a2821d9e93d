/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HOST_ROOM 256

/* Puts the name without its port (brackets taken off) into ret, and returns
   what follows it: "" or ":PORT"; NULL: it makes no sense. */
static const char *split(const char *text, char ret[HOST_ROOM])
{
	bool bracketed = *text == '[';
	const char *begin = text + bracketed;
	const char *end = bracketed ? strchr(begin, ']') :
				      begin + strcspn(begin, ":");

	if (!end || (size_t)(end - begin) >= HOST_ROOM)
		return NULL;
	memcpy(ret, begin, end - begin);
	ret[end - begin] = '\0';
	end += bracketed;
	return *end && *end != ':' ? NULL : end;
}

static bool parse_port(const char *text, in_port_t *ret)
{
	unsigned long port;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	port = strtoul(text, &end, 10);
	*ret = htons(port);
	return !*end && !errno && port <= 65535;
}

bool host_parse(const char *text, struct sockaddr_storage *ret,
		socklen_t *size_ret)
{
	struct sockaddr_in *four = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
	char name[HOST_ROOM] = "127.0.0.1";
	const char *port = text;

	memset(ret, 0, sizeof(*ret));
	if (strchr(text, ':')) {
		port = split(text, name);
		if (!port || *port++ != ':')
			return false;
	}
	*size_ret = sizeof(*four);
	four->sin_family = AF_INET;
	if (*text != '[' && inet_pton(AF_INET, name, &four->sin_addr) == 1)
		return parse_port(port, &four->sin_port);
	*size_ret = sizeof(*six);
	six->sin6_family = AF_INET6;
	return *text == '[' &&
	       inet_pton(AF_INET6, name, &six->sin6_addr) == 1 &&
	       parse_port(port, &six->sin6_port);
}

void host_print(const struct sockaddr_storage *address, char *ret, size_t room)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	char text[INET6_ADDRSTRLEN] = "?";

	if (address->ss_family == AF_INET) {
		inet_ntop(AF_INET, &four->sin_addr, text, sizeof(text));
		snprintf(ret, room, "%s:%u", text, ntohs(four->sin_port));
	} else {
		inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text));
		snprintf(ret, room, "[%s]:%u", text, ntohs(six->sin6_port));
	}
}

bool host_is_us(const char *host, const char *machine)
{
	char name[HOST_ROOM];
	const char *port = split(host, name);
	struct in6_addr address;
	in_port_t number;

	if (!port || (*port && !parse_port(port + 1, &number)))
		return false;
	if (*host == '[')
		return inet_pton(AF_INET6, name, &address) == 1;
	return inet_pton(AF_INET, name, &address) == 1 ||
	       !strcasecmp(name, "localhost") ||
	       (*machine && !strcasecmp(name, machine));
}
