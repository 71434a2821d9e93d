/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNATURE_H
#define CALLTRAP_SIGNATURE_H

#include "prototype/prototype.h"
#include "prototype/type.h"

#define PARAMETERS_MAX 64

struct prototype {
	const struct type *result;
	const struct type *const *parameters;
	unsigned count;
	unsigned later; /* the first that is shown after the return, or count */
};

#endif
