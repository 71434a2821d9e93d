/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PYTHON_TEXT_H
#define CALLTRAP_PYTHON_TEXT_H

#include "memory/python_types.h"

/* Of a longer text this is the beginning. */
#define PYTHON_TEXT_MOST 64

bool python_is_text(struct python_types *types, struct memory *memory,
		    taddr_t address);

/* What a str has, if that is ASCII, printable, and not empty. */
bool python_text(struct python_types *types, struct memory *memory,
		 taddr_t address, char ret[PYTHON_TEXT_MOST + 1]);

#endif
