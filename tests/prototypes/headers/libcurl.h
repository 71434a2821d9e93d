/* SPDX-License-Identifier: GPL-2.0-or-later */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <curl/mprintf.h>
