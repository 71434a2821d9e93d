/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/builtin.h"

const struct builtin_file builtin_files[] = {
	{ 0 },
};
