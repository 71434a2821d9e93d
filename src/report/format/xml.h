/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_XML_H
#define CALLTRAP_XML_H

#include "base/strbuf.h"

/*
 * Adds a text for the inside of elements and attributes: nothing in it is
 * markup, and no character is one that XML forbids, or that changes the
 * direction of what stands around it. What is no printable UTF-8 comes out as
 * \ooo or \uxxxx; behind max characters it is cut and ends in "..".
 */
void xml_add(struct strbuf *out, const char *text, size_t max);

#endif
