/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_OPTION_H
#define CALLTRAP_GROWTH_OPTION_H

#include "cli/option_table.h"

/* --growth heap,mmap */
int apply_growth(struct command_line *line, const struct option_entry *entry,
		 const char *argument);

/* Whether it fits the other options; if not, that has been told. */
int check_growth(const struct options *options);

#endif
