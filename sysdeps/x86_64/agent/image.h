/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_IMAGE_H
#define CALLTRAP_AGENT_IMAGE_H

#include <stddef.h>

/*
 * The agent as it is to be mapped: struct agent_header, then code, which runs
 * at any address. Made of hook.S and the C files here.
 */
extern const unsigned char agent_image[];
extern const size_t agent_image_size;

#endif
