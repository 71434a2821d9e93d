/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/log_script.h"

#include "base/file.h"
#include "report/format/names.h"

static void add_line_number(struct strbuf *out,
			    const struct script_frame *frame)
{
	if (frame->line)
		strbuf_printf(out, ":%u", frame->line);
}

void log_script_add(struct strbuf *out, const struct script_frames *frames)
{
	const struct script_frame *frame = frames->own;

	strbuf_putc(out, '[');
	names_escape(out, file_base_name(frame->file));
	add_line_number(out, frame);
	strbuf_puts(out, "] ");
}

int log_script_stack(struct output *output, const struct script_frames *frames)
{
	struct strbuf *out = &output->text;
	int err = 0;

	for (size_t i = 0; i < frames->count && !err; i++) {
		strbuf_puts(out, " > ");
		names_escape(out, frames->list[i].file);
		add_line_number(out, &frames->list[i]);
		err = output_end_line(output);
	}
	return err;
}
