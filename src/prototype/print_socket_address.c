/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "prototype/printer.h"

/* As much of one as was read. */
union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_nl nl;
};

static void print_name(struct printer *printer, const char *name)
{
	print_ops(printer)->name(printer->writer, name);
}

static void print_plain(struct printer *printer, const char *name,
			uint64_t value)
{
	char text[24];
	const struct value_number number = {
		.value = value,
		.style = NUMBER_DECIMAL,
		.text = text,
	};

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	print_name(printer, name);
	print_ops(printer)->number(printer->writer, &number);
}

static void print_host(struct printer *printer, const char *name, int family,
		       const void *host)
{
	char text[INET6_ADDRSTRLEN];
	struct value_text shown = { .bytes = text };

	if (!inet_ntop(family, host, text, sizeof(text)))
		return;
	shown.length = strlen(text);
	print_name(printer, name);
	print_ops(printer)->text(printer->writer, &shown);
}

/* An abstract one begins with a NUL, and has as many as it likes. */
static void print_path(struct printer *printer, const union address *address,
		       struct place place, uint64_t size)
{
	const size_t before = offsetof(struct sockaddr_un, sun_path);
	const struct text text = {
		.place = place_behind(place, before),
		.size = size - before,
		.unit = 1,
		.whole = size > before && !address->un.sun_path[0],
	};

	if (size == before)
		return; /* it has no name */
	print_name(printer, "sun_path");
	print_text(printer, &text);
}

static const struct address_family {
	int number;
	const char *name;
	size_t least; /* bytes that there have to be */
} families[] = {
	{ AF_UNIX, "AF_UNIX", sizeof(sa_family_t) },
	{ AF_INET, "AF_INET", offsetof(struct sockaddr_in, sin_zero) },
	{ AF_INET6, "AF_INET6", offsetof(struct sockaddr_in6, sin6_scope_id) },
	{ AF_NETLINK, "AF_NETLINK", sizeof(struct sockaddr_nl) },
};

static const struct address_family *family_of(const union address *address,
					      uint64_t size)
{
	if (size < sizeof(sa_family_t))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].number == address->any.sa_family &&
		    families[i].least <= size)
			return &families[i];
	return NULL;
}

static void print_family(struct printer *printer,
			 const struct address_family *family)
{
	const struct value_number number = {
		.value = family->number,
		.style = NUMBER_NAMED,
		.text = family->name,
	};

	print_name(printer, "sa_family");
	print_ops(printer)->number(printer->writer, &number);
}

static void print_rest(struct printer *printer, const union address *address,
		       struct place place, uint64_t size)
{
	switch (address->any.sa_family) {
	case AF_UNIX:
		print_path(printer, address, place, size);
		break;
	case AF_INET:
		print_plain(printer, "sin_port", ntohs(address->in.sin_port));
		print_host(printer, "sin_addr", AF_INET, &address->in.sin_addr);
		break;
	case AF_INET6:
		print_plain(printer, "sin6_port",
			    ntohs(address->in6.sin6_port));
		print_host(printer, "sin6_addr", AF_INET6,
			   &address->in6.sin6_addr);
		if (address->in6.sin6_scope_id)
			print_plain(printer, "sin6_scope_id",
				    address->in6.sin6_scope_id);
		break;
	case AF_NETLINK:
		print_plain(printer, "nl_pid", address->nl.nl_pid);
		print_plain(printer, "nl_groups", address->nl.nl_groups);
		break;
	}
}

void print_socket_address(struct printer *printer, struct place place,
			  uint64_t size)
{
	const struct text bytes = { place, size, .unit = 1, .whole = true };
	union address address = { 0 };
	const struct address_family *family;
	uint64_t most = size < sizeof(address) ? size : sizeof(address);

	if (size > sizeof(struct sockaddr_storage))
		size = sizeof(struct sockaddr_storage);
	if (memory_read_some(place.memory, place.address, &address, most) <
	    most)
		family = NULL;
	else
		family = family_of(&address, most);
	if (!family) {
		print_text(printer, &bytes);
		return;
	}
	print_ops(printer)->begin(printer->writer, GROUP_STRUCT);
	print_family(printer, family);
	print_rest(printer, &address, place, size);
	print_ops(printer)->end(printer->writer, GROUP_STRUCT);
}
