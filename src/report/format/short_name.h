/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SHORT_NAME_H
#define CALLTRAP_SHORT_NAME_H

#include "base/strbuf.h"

/*
 * Adds the name of a function. One of more than so many bytes is shown without
 * the inner arguments of its templates, and then without all of them and its
 * parameters: std::vector<...>::push_back(...). What is still too long stays
 * so, short of names_escape()'s bound.
 */
void short_name_add(struct strbuf *out, const char *name, size_t width);

#endif
