/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <php.h>
#include <php_main.h>
#include <php_streams.h>
#include <zend_exceptions.h>
