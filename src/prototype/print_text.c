/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "prototype/printer.h"
#include "prototype/quote.h"

/* However large -s is. */
#define TEXT_MAX (16u << 20)

/* Adds up to size bytes of memory; returns how many were readable. */
static uint64_t read_bytes(struct memory *memory, const struct text *text,
			   uint64_t size, struct strbuf *ret)
{
	uint64_t done = 0;

	while (done < size) {
		char bytes[4096];
		size_t want = size - done < sizeof(bytes) ? size - done :
							    sizeof(bytes);
		size_t got = memory_read_some(memory, text->address + done,
					      bytes, want);

		strbuf_add(ret, bytes, got);
		done += got;
		if (got < want)
			break;
		if (!text->whole && memchr(bytes, '\0', got))
			break;
	}
	return done;
}

void print_text(struct printer *printer, const struct text *text)
{
	uint64_t most = printer->limits->string_bytes;
	struct strbuf bytes = { 0 };
	uint64_t want, got, shown;
	const char *end;

	if (most > TEXT_MAX)
		most = TEXT_MAX;
	/* One more than is shown, to know whether there are more. */
	want = text->size > most ? most + 1 : text->size;
	got = read_bytes(printer->values->memory, text, want, &bytes);
	if (want && !got) {
		strbuf_fini(&bytes);
		print_unreadable(printer, text->address);
		return;
	}
	end = text->whole || !got ? NULL : memchr(bytes.text, '\0', got);
	shown = end ? (uint64_t)(end - bytes.text) : got;
	if (shown > most)
		shown = most;
	quote_bytes(printer->out, '"', strbuf_text(&bytes), shown);
	if (!end && (got > most || got < want))
		strbuf_puts(printer->out, "...");
	strbuf_fini(&bytes);
}
