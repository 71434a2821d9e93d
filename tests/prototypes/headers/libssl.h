/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/srtp.h>
