/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_NEAR_WORD_H
#define CALLTRAP_NEAR_WORD_H

#include <stdbool.h>

/*
 * Whether one word may have been meant where the other was written: they are
 * two edits apart at most, short ones a single edit.
 */
bool near_word(const char *written, const char *known);

#endif
