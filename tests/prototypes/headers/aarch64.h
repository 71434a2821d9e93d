/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled with the folder of arm64's own headers before the system's. */
#include <asm/fcntl.h>
#include <linux/eventpoll.h>
#include <linux/openat2.h>

/* glibc's name */
#define O_ASYNC FASYNC
