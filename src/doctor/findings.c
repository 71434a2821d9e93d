/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/xalloc.h"
#include "report/format/json_writer.h"

/* Of the longest verdict, and two blanks. */
#define WHAT_COLUMN 9

static const char *const verdicts[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_LIMITED] = "limited",
	[VERDICT_NO] = "no",
};

void findings_fini(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->list[i].words);
	free(findings->list);
	*findings = (struct findings){ 0 };
}

static void add(struct findings *findings, struct finding finding,
		const char *format, va_list arguments)
{
	if (vasprintf(&finding.words, format, arguments) < 0)
		fatal("out of memory");
	findings->list = xgrow(findings->list, findings->count, &findings->room,
			       sizeof(*findings->list));
	findings->list[findings->count++] = finding;
}

void findings_add(struct findings *findings, enum verdict verdict,
		  const char *what, const char *remedy, const char *format, ...)
{
	const struct finding finding = { verdict, false, what, remedy, NULL };
	va_list arguments;

	va_start(arguments, format);
	add(findings, finding, format, arguments);
	va_end(arguments);
}

void findings_add_vital(struct findings *findings, enum verdict verdict,
			const char *what, const char *remedy,
			const char *format, ...)
{
	const struct finding finding = { verdict, true, what, remedy, NULL };
	va_list arguments;

	va_start(arguments, format);
	add(findings, finding, format, arguments);
	va_end(arguments);
}

bool findings_allow_tracing(const struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->list[i].vital &&
		    findings->list[i].verdict == VERDICT_NO)
			return false;
	return true;
}

void findings_text(const struct findings *findings, struct strbuf *out)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];
		const size_t begin = out->length;

		strbuf_puts(out, verdicts[finding->verdict]);
		strbuf_pad(out, begin + WHAT_COLUMN);
		strbuf_printf(out, "%s: %s", finding->what, finding->words);
		if (finding->remedy)
			strbuf_printf(out, "; %s", finding->remedy);
		printable_make(out->text + begin, out->length - begin);
		strbuf_putc(out, '\n');
	}
}

json_t *findings_json(const struct findings *findings)
{
	json_t *array = json_array();

	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->list[i];
		json_t *object = json_object();

		json_set_text(object, "verdict", verdicts[finding->verdict]);
		json_set_text(object, "what", finding->what);
		json_object_set_new(object, "words",
				    json_text(finding->words,
					      strlen(finding->words)));
		json_set_text(object, "remedy", finding->remedy);
		json_object_set_new(object, "vital",
				    json_boolean(finding->vital));
		json_array_append_new(array, object);
	}
	return array;
}
