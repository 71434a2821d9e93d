/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/Xresource.h>
