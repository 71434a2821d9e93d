/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "prototype/signature.h"

static const struct type nothing = { .kind = TYPE_VOID };

static const struct type address = {
	.kind = TYPE_POINTER,
	.target = &nothing,
	.complete = true,
};

static const struct prototype resolver = { .result = &address };

const struct prototype *prototype_of_resolver(void)
{
	return &resolver;
}
