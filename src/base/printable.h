/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PRINTABLE_H
#define CALLTRAP_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How many bytes the character at s has that a terminal shows as it is: 0 for
 * a control character (those from U+0080 to U+009F are some, too, and those that
 * turn the direction of a text) and for what is no UTF-8. The text ends in a NUL.
 */
size_t printable_length(const char *s);

/* Puts a '?' for each byte that is none of those. */
void printable_make(char *text, size_t length);

/* How many bytes from there on are printed ASCII, and neither a backslash nor mark. */
size_t printable_plain(const char *bytes, size_t n, char mark);

/* Whether all of it is ASCII that is printed as it is. */
bool printable_is_ascii(const char *text);

/* Whether no control character is in it; in what encoding is open. */
bool printable_has_no_controls(const char *text);

#endif
