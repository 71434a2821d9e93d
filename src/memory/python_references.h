/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_REFERENCES_H
#define CALLTRAP_PYTHON_REFERENCES_H

#include "memory/python_types.h"
#include "memory/reach.h"

/*
 * Of blocks that are listed as garbage, those are taken from the list that
 * Python's collector won't give back: more references to an object were taken than
 * there are in garbage, so one was never dropped (a Py_DECREF that is missing); and
 * all that such an object leads to. rule: what is passed over there.
 */
void python_references_check(const struct picture *picture,
			     const struct mappings *mappings,
			     struct python_types *types,
			     const struct reach_rule *rule,
			     struct glibc *glibc);

#endif
