/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/path_pattern.h"

bool path_pattern_expand(const char *path, pid_t pid, struct strbuf *out)
{
	bool names_process = false;

	for (; *path; path++) {
		if (path[0] == '%' && path[1] == 'p') {
			strbuf_printf(out, "%d", (int)pid);
			names_process = true;
			path++;
		} else if (path[0] == '%' && path[1] == '%') {
			strbuf_putc(out, '%');
			path++;
		} else {
			strbuf_putc(out, *path);
		}
	}
	return names_process;
}
