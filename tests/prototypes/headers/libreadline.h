/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <readline/readline.h>
#include <readline/history.h>
