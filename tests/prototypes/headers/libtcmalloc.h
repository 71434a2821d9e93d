/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>
#include <gperftools/tcmalloc.h>
#include <gperftools/nallocx.h>
