/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPTION_CHECK_H
#define CALLTRAP_OPTION_CHECK_H

#include "cli/option_table.h"

/* Whether the options make sense together, for their verb. -EINVAL when they
   don't, which has been told. */
int check_options(const struct command_line *line);

#endif
