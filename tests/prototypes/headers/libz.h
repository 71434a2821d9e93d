/* SPDX-License-Identifier: GPL-2.0-or-later */
#define _LARGEFILE64_SOURCE 1
#include <zlib.h>
