/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_REPLACEABLE_H
#define CALLTRAP_REPLACEABLE_H

#include <stdbool.h>

/*
 * Whether the agent may have a function return to a place of its own: it returns
 * as often as it is called, or never, and doesn't look at where it returns to.
 * Known by its name, as few do otherwise.
 */
bool replaceable_by_agent(const char *function);

/*
 * Whether that is certain of a function of the C library's, though it may wait and
 * be cancelled meanwhile: it asks the system, and of the program's nothing runs
 * within it but handlers of signals, an allocator, and what is behind a stream.
 */
bool waits_in_c_library(const char *function);

/*
 * … and of what asks a database's server, in a client's library by the name of its
 * file: of the program's runs what takes notices, or gives LOAD DATA its lines.
 */
bool waits_for_database(const char *function, const char *library);

/* … and of what libstdc++ does with a std::string. */
bool works_in_cxx_library(const char *function);

/*
 * Whether a library, by the name of its file, takes pieces of stacks away and
 * puts others there: the place of a return address isn't one call's alone then.
 */
bool cuts_stacks(const char *library);

/* … where a program has such functions, whatever their file is called. */
#define STACK_CUTTERS 3
extern const char *const stack_cutters[STACK_CUTTERS];

#endif
