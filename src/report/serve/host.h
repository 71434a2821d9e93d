/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_HOST_H
#define CALLTRAP_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* "[ADDR:]PORT": an address in digits (IPv6 in brackets), 127.0.0.1 unless it
   is given. False: it is none. */
bool host_parse(const char *text, struct sockaddr_storage *ret,
		socklen_t *size_ret);

/* "127.0.0.1:6060", "[::1]:6060" */
void host_print(const struct sockaddr_storage *address, char *ret, size_t room);

/*
 * Whether a request's Host is us: an address in digits, localhost, or this
 * machine's name. Another name, which somebody may have pointed at our address
 * (DNS rebinding), would let his page in a browser read what we say.
 */
bool host_is_us(const char *host, const char *machine);

#endif
