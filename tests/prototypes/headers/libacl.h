/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/acl.h>
#include <acl/libacl.h>
