/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/memory/export.h"

#include "report/file/path_pattern.h"
#include "report/file/whole_file.h"

void heap_export_write_file(const struct heap_export *export,
			    const char *pattern, const struct strbuf *out,
			    const struct export_errors *errors)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	bool predictable =
		path_pattern_expand(pattern, export->process->pid, &path);
	int err = whole_file_write(strbuf_text(&path), out->text, out->length,
				   predictable);

	if (err)
		errors->told(errors->context, strbuf_text(&path), err);
}
