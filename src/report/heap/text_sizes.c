/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/amounts.h"
#include "report/heap/sizes.h"
#include "report/heap/text.h"

/* Sizes of blocks: of a row, and of everything. */

int heap_text_sizes(const struct heap_text *text,
		    const struct log_histogram *sizes)
{
	struct strbuf *out = heap_text_out(text);
	struct size_row rows[SIZE_CLASSES];
	size_t count = size_rows(sizes, rows);
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		strbuf_puts(out, "        up to ");
		amounts_add_column(out, rows[i].up_to, 14);
		strbuf_puts(out, " bytes: ");
		amounts_add_column(out, rows[i].blocks, 12);
		strbuf_printf(out, " %5.1f %%", rows[i].percent);
		err = heap_text_end_line(text);
	}
	return err;
}

int heap_text_all_sizes(const struct heap_text *text)
{
	struct strbuf *out = heap_text_out(text);
	struct log_histogram sizes;
	int err;

	if (!text->config->options->histogram)
		return 0;
	strbuf_puts(out, "---- SIZES OF ALL THAT WAS ACQUIRED");
	err = heap_text_end_line(text);
	sizes = sizes_of_all(text->process->heap);
	if (!err)
		err = heap_text_sizes(text, &sizes);
	log_histogram_fini(&sizes);
	return err;
}
