/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <mariadb/mysql.h>
#include <mariadb/errmsg.h>
