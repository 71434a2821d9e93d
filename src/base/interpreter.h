/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_INTERPRETER_H
#define CALLTRAP_INTERPRETER_H

#include <stdbool.h>

/* Interpreters by the names of their files, of whichever version: a path of a
   program, or of the library that it has everything in. */

/* Of a language whose programs calltrap can find its way in. */
bool interpreter_is(const char *path);

/* Of Python 3. */
bool interpreter_is_python(const char *path);

#endif
