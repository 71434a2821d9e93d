/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_OPTION_APPLY_H
#define CALLTRAP_OPTION_APPLY_H

#include "cli/option_table.h"

/*
 * What options do: a function for each kind of argument. Simple ones set the
 * field that the entry names. -EINVAL when an argument is none, which has been
 * told.
 */
typedef int apply_option(struct command_line *line,
			 const struct option_entry *entry,
			 const char *argument);

apply_option apply_flag;
apply_option apply_number;
apply_option apply_text;
apply_option apply_whose;
apply_option apply_word;
apply_option apply_filter;
apply_option apply_library;
apply_option apply_condition;
apply_option apply_pids;
apply_option apply_name;
apply_option apply_by;
apply_option apply_when_full;
apply_option apply_clock;
apply_option apply_files;
apply_option apply_list;
apply_option apply_debug;
apply_option apply_duration;
apply_option apply_bytes;
apply_option apply_percent;
apply_option apply_ltrace;
apply_option apply_convert;

#endif
