/* SPDX-License-Identifier: GPL-2.0-or-later */
#define PACKAGE "calltrap"
#define PACKAGE_VERSION "1"
#include <bfd.h>
