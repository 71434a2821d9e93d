/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/terminal_line.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/writable.h"

bool terminal_line_is_held(void)
{
	return writable_within(STDERR_FILENO, 0) <= 0;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ?
		       size.ws_col :
		       80;
}

void terminal_line_show(struct strbuf *line)
{
	size_t width = terminal_width() - 1;

	if (line->length > width)
		line->length = width;
	dprintf(STDERR_FILENO, "\r%.*s\033[K", (int)line->length,
		strbuf_text(line));
}

void terminal_line_clear(void)
{
	if (!terminal_line_is_held())
		dprintf(STDERR_FILENO, "\r\033[K");
}
